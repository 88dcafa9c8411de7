import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PracticeNode } from '../../test/rig/practice-node.ts';
import { EXECUTABLE } from '../../test/rig/run-kubediag.ts';
import { bundleScripts } from './bundle-scripts.ts';
import { barred, type Row } from './row.ts';

const NAMESPACES = 300;
const MOUNTS = 500;
const ROUNDS = 7;
const READ_MS = 500;

/** How fast the mounts of a full node are read: real namespaces, each with a table of its own. */
export async function mountNamespaceRows(): Promise<readonly Row[]> {
  const node = await PracticeNode.make();
  try {
    await makeMounts(node);
    const kubelet = await node.startKubelet();
    await makeNamespaces(node);
    await bundleScripts(node.scratch, 'read-namespaces');
    const script = join(node.scratch, 'read-namespaces.cjs');
    const args = [EXECUTABLE, String(kubelet.innerPid), node.root, String(ROUNDS)];
    const output = await node.run(process.execPath, script, ...args);
    const seen = JSON.parse(output) as Record<
      'leastMs' | 'namespaces' | 'mounts' | 'notSeen',
      number
    >;
    const isWhole = seen.namespaces > NAMESPACES && seen.mounts >= NAMESPACES * MOUNTS;
    if (!isWhole || seen.notSeen > 0) throw new Error(`not all was read: ${output}`);
    const name = `mount tables of ${NAMESPACES} namespaces, ${MOUNTS} lines each`;
    return [barred(name, seen.leastMs, 'ms', { under: READ_MS })];
  } finally {
    await node.stop();
  }
}

/** As secrets and tokens are mounted, which are most of what a container sees of its node. */
async function makeMounts(node: PracticeNode): Promise<void> {
  const targets = Array.from({ length: MOUNTS }, (_, index) =>
    join(node.root, 'pods', `29da79e5-386c-4e0d-82c1-215f93ff${1000 + index}`, 'volumes/a~b/data'),
  );
  for (const target of targets) mkdirSync(target, { recursive: true });
  const list = join(node.scratch, 'mounts');
  writeFileSync(list, targets.map((target) => `tmpfs ${target} tmpfs size=64k 0 0\n`).join(''));
  await node.run('mount', '--all', '--fstab', list);
}

/** Each is a shell that waits for ever in a mount namespace of its own. */
async function makeNamespaces(node: PracticeNode): Promise<void> {
  const pipe = join(node.scratch, 'never');
  await node.run('mkfifo', pipe);
  const one = 'unshare --mount --propagation private sh -c "echo made; read never <&3"';
  const script =
    `exec 3<>"$1"; n=0; while [ $n -lt "$2" ]; do ${one} & n=$((n+1)); ` +
    '[ $((n % 20)) -ne 0 ] || sleep 0.1; done; wait';
  const started = node.startHere(['sh', '-c', script, 'sh', pipe, String(NAMESPACES)]);
  await started.hasSaid('made\n'.repeat(NAMESPACES));
}
