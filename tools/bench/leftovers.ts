import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { PracticeNode } from '../../test/rig/practice-node.ts';
import { reportOf } from '../../test/rig/run-kubediag.ts';
import { bundleScripts } from './bundle-scripts.ts';
import { barred, type Row, shown } from './row.ts';
import { startScript } from './start-script.ts';
import { syntheticUid } from './synthetic-mount-table.ts';

const PODS = 500;
const PER_POD = 40;
const SCAN_ROUNDS = 15;
const CHECK_ROUNDS = 7;
const TIMES_FIND = 2;
const CHECK_MS = 1_000;
const DAY_S = 24 * 3600;
const NAME = '20,000 leftover directories in 500 pods';

/** A node on which leftovers have piled up in every pod. */
export async function leftoverRows(): Promise<readonly Row[]> {
  const node = await PracticeNode.make();
  try {
    makeLeftovers(node);
    await startScript(node, 'tools/bench/busy-runtime.ts', node.socket, String(PODS), node.root);
    await node.startKubelet({ says: { version: 'v1.18.8', pods: [] } });
    return [...(await scanRows(node)), await checkRow(node)];
  } finally {
    await node.stop();
  }
}

function makeLeftovers(node: PracticeNode): void {
  const then = Date.now() / 1000 - DAY_S;
  for (let pod = 0; pod < PODS; pod += 1) {
    const folder = join(node.root, 'pods', syntheticUid(pod), 'volumes/transwarp.io~tosdisk');
    for (let index = 0; index < PER_POD; index += 1) {
      const path = join(folder, `pvc-${syntheticUid(pod)}.deleting~${100_000_000 + index * 7919}`);
      mkdirSync(path, { recursive: true });
      utimesSync(path, then, then);
    }
  }
}

/** One after the other, so that both meet the same weather. */
async function scanRows(node: PracticeNode): Promise<readonly Row[]> {
  await bundleScripts(node.scratch, 'scan-leftovers');
  const script = join(node.scratch, 'scan-leftovers.cjs');
  const pods = join(node.root, 'pods');
  const depth = ['-mindepth', '4', '-maxdepth', '4'];
  const [scans, entries, finds]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < SCAN_ROUNDS; round += 1) {
    const reported = execFileSync(process.execPath, [script, pods], { encoding: 'utf8' });
    const { namesMs, entriesMs, count } = JSON.parse(reported) as Record<string, number>;
    if (count !== PODS * PER_POD) throw new Error(`the scan saw ${count} leftovers`);
    scans.push(namesMs ?? 0);
    entries.push(entriesMs ?? 0);
    const begun = performance.now();
    const { status } = spawnSync('find', [pods, ...depth, '-name', '*.deleting~*'], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    if (status !== 0) throw new Error(`find ended with ${status}`);
    finds.push(performance.now() - begun);
  }
  const [scan, find] = [Math.min(...scans), Math.min(...finds)];
  return [
    shown(`${NAME}: scan inside the reader`, scan, 'ms'),
    shown(`${NAME}: find`, find, 'ms'),
    barred(`${NAME}: scan inside the reader / find`, scan / find, 'times', { under: TIMES_FIND }),
    shown(`${NAME}: what they are, inside the reader`, Math.min(...entries), 'ms'),
  ];
}

async function checkRow(node: PracticeNode): Promise<Row> {
  const args = ['check', 'leftover-volume-directory'];
  const report = reportOf(await node.kubediag(...args, '-o', 'json'));
  const findings = report.faults.flatMap((fault) => fault.findings);
  if (findings.length !== PODS) throw new Error(`the check found ${findings.length} directories`);
  const times: number[] = [];
  for (let round = 0; round < CHECK_ROUNDS; round += 1) {
    const { code, tookMs, stderr } = await node.kubediag(...args);
    if (code !== 1) throw new Error(`check ended with ${code}: ${stderr}`);
    times.push(tookMs);
  }
  return barred(`check leftover-volume-directory, ${NAME}`, Math.min(...times), 'ms', {
    under: CHECK_MS,
  });
}
