import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import { mountNamespaces } from '../../src/node/evidence/mounts/mount-namespaces.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';

/**
 * Reads the mount tables of all namespaces, again and again, and prints the least time of it in
 * milliseconds with what was seen: `read-namespaces PROGRAM KUBELET-PID ROOT ROUNDS`.
 */
const [program = '', pid = '', root = '', rounds = ''] = process.argv.slice(2);
const node = new LiveNode({ program, arguments: ['reader'] }, { hostRoot: '/' });
const settings = { kubeletPid: Number(pid), kubeletRoot: root };

async function read(): Promise<void> {
  let leastMs = Number.POSITIVE_INFINITY;
  let seen = { namespaces: 0, mounts: 0, notSeen: 0 };
  for (let round = 0; round < Number(rounds); round += 1) {
    const snapshot = takeSnapshot(node, settings);
    // The reader is started by the first question of all, and is not what is measured.
    await snapshot.node.ask('file', { path: '/proc/self/stat' });
    const begun = performance.now();
    const { namespaces, notSeen } = await snapshot.of(mountNamespaces);
    leastMs = Math.min(leastMs, performance.now() - begun);
    const mounts = namespaces.reduce((sum, { table }) => sum + table.mounts.length, 0);
    seen = { namespaces: namespaces.length, mounts, notSeen: notSeen.length };
  }
  node.close();
  process.stdout.write(JSON.stringify({ leastMs, ...seen }));
}

void read();
