import { join } from 'node:path';
import { PracticeNode } from '../../test/rig/practice-node.ts';
import { reportOf } from '../../test/rig/run-kubediag.ts';
import { loseSubpaths, mountsOf, prepareMounts } from './busy-mounts.ts';
import { busyPods, LOST_SUBPATHS, MOUNTS_PER_POD, PODS } from './busy-pods.ts';
import { peakBytesBelow } from './peak-memory.ts';
import { barred, type Row } from './row.ts';
import { startScript } from './start-script.ts';

const TIMED_RUNS = 7;
const MEASURED_RUNS = 3;
/** The bar of the first fault, and the one of all of them together. */
const ONE_FAULT_MS = 1_000;
const ALL_FAULTS_MS = 2_000;
const PEAK_BYTES = 120_000_000;
/** A shim, a pause and a container for each pod. */
const PROCESSES = PODS * 3;
const NAME = 'check, 500 pods, 5,000 mounts';

/** A check of a node with more than four times the pods that a kubelet takes by default. */
export async function busyNodeRows(): Promise<readonly Row[]> {
  const node = await PracticeNode.make();
  try {
    await makeBusy(node);
    await confirm(node);
    const [one, all]: [number[], number[]] = [[], []];
    for (let run = 0; run < TIMED_RUNS; run += 1) {
      one.push(await timedRun(node, 'stale-subpath-mount'));
      all.push(await timedRun(node));
    }
    const peaks: number[] = [];
    for (let run = 0; run < MEASURED_RUNS; run += 1) peaks.push(await measuredRun(node));
    return [
      barred(`${NAME}: one fault`, Math.min(...one), 'ms', { under: ONE_FAULT_MS }),
      barred(`${NAME}: all faults`, Math.min(...all), 'ms', { under: ALL_FAULTS_MS }),
      barred(`${NAME}: peak memory of the largest process`, Math.max(...peaks) / 1e6, 'MB', {
        under: PEAK_BYTES / 1e6,
      }),
    ];
  } finally {
    await node.stop();
  }
}

async function makeBusy(node: PracticeNode): Promise<void> {
  const pods = busyPods();
  const list = join(node.scratch, 'mounts');
  const runtimeFolder = join(node.scratch, 'containerd');
  prepareMounts(
    pods.flatMap((pod) => mountsOf(pod, node.root, runtimeFolder)),
    list,
  );
  await node.run('mount', '--all', '--fstab', list);
  loseSubpaths(pods, node.root);
  await startProcesses(node);
  await startScript(node, 'tools/bench/busy-runtime.ts', node.socket, String(PODS), node.root);
  const config = join(node.scratch, 'kubelet.yaml');
  await startScript(
    node,
    'tools/bench/busy-kubelet.ts',
    String(PODS),
    `--config=${config}`,
    `--root-dir=${node.root}`,
    `--container-runtime-endpoint=unix://${node.socket}`,
  );
}

/** Each is a shell that waits for ever: they share their memory, so they cost next to nothing. */
async function startProcesses(node: PracticeNode): Promise<void> {
  const pipe = join(node.scratch, 'never');
  await node.run('mkfifo', pipe);
  const script =
    'exec 3<>"$1"; n=0; while [ $n -lt "$2" ]; do read never <&3 & n=$((n+1)); done; echo ready; wait';
  const { hasSaid } = node.startHere(['sh', '-c', script, 'sh', pipe, String(PROCESSES)]);
  await hasSaid('ready');
}

/** A check that sees less than there is would be fast for nothing. */
async function confirm(node: PracticeNode): Promise<void> {
  const report = reportOf(await node.kubediag('check', '-o', 'json'));
  const { pods = 0, mounts = 0 } = report.node;
  const found = report.faults.flatMap(({ findings }) => findings).length;
  const isWhole = pods === PODS && mounts >= PODS * MOUNTS_PER_POD && found === LOST_SUBPATHS;
  if (!isWhole) throw new Error(`the busy node is not seen: ${JSON.stringify(report, null, 2)}`);
}

async function timedRun(node: PracticeNode, ...faults: readonly string[]): Promise<number> {
  const { code, tookMs, stderr } = await node.kubediag('check', ...faults);
  if (code !== 1) throw new Error(`check ended with ${code}: ${stderr}`);
  return tookMs;
}

async function measuredRun(node: PracticeNode): Promise<number> {
  const { child, end } = node.start(['check']);
  child.stdin?.end();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const peak = await peakBytesBelow(child.pid ?? 0, hasEnded);
  await end;
  return peak;
}
