import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { READERS_ABANDONED_MAX } from '../../src/node/reader/limits.ts';
import { PracticeNode } from '../../test/rig/practice-node.ts';
import type { KubeletOptions } from '../../test/rig/start-kubelet.ts';
import { barred, type Row } from './row.ts';
import { startScript } from './start-script.ts';
import { syntheticUid } from './synthetic-mount-table.ts';

const HUNG_MOUNTS = 50;
const PODS = 5;
const TIME_LIMIT_S = 20;
/** A killed process that can die is gone by then. */
const DEATH_MS = 500;

/** A check of a node whose network filesystems are dead: it ends, by itself, and leaves little. */
export async function hungNodeRows(): Promise<readonly Row[]> {
  const node = await PracticeNode.make();
  try {
    const hung = Array.from({ length: HUNG_MOUNTS }, (_, index) =>
      join(node.root, 'pods', syntheticUid(index), 'volumes/kubernetes.io~nfs/data'),
    );
    for (const target of hung) mkdirSync(target, { recursive: true });
    await startScript(node, 'test/rig/hung-fuse.ts', ...hung);
    await startScript(node, 'tools/bench/busy-runtime.ts', node.socket, String(PODS), node.root);
    const [first = '', second = ''] = hung;
    return [
      ...(await checkRows(node, '50 hung mounts', {})),
      // What a check has to touch lies on two of them.
      ...(await checkRows(
        node,
        '50 hung mounts, kubelet configuration and runtime socket on them',
        {
          socket: join(first, 'containerd.sock'),
          flags: [`--config=${join(second, 'config.yaml')}`],
        },
      )),
    ];
  } finally {
    await node.stop();
  }
}

async function checkRows(
  node: PracticeNode,
  name: string,
  options: Partial<KubeletOptions>,
): Promise<readonly Row[]> {
  await node.startKubelet(options);
  const before = processesOf(node);
  const ended = await node.kubediag('check', '--timeout', `${TIME_LIMIT_S}s`);
  if (ended.code === null) throw new Error(`${name}: check did not end: ${ended.signal}`);
  if (!ended.stdout) throw new Error(`${name}: check said nothing, but: ${ended.stderr}`);
  await sleep(DEATH_MS);
  const left = processesOf(node).filter((pid) => !before.includes(pid));
  await node.stopKubelet();
  return [
    barred(`check, ${name}`, ended.tookMs / 1000, 's', { under: TIME_LIMIT_S }),
    barred(`check, ${name}: processes left`, left.length, 'processes', {
      atMost: READERS_ABANDONED_MAX,
    }),
  ];
}

/** The process ids of the node as it sees them itself. */
function processesOf(node: PracticeNode): readonly string[] {
  return readdirSync(node.see('/proc')).filter((name) => /^\d+$/.test(name));
}
