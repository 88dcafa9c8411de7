import { expect, test } from 'vitest';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { OpenFile, ProcessEntry, ReadFailure } from '../../model/node-reader.ts';
import type { MountNamespace } from '../mounts/mount-namespaces.ts';
import { type MountTable, parseMountTable } from '../mounts/mount-table.ts';
import { type Base, writersBelow } from './leftover-writers.ts';

const TOP = '/var/lib/kubelet/pods';
const EMPTY_DIR = `${TOP}/u1/volumes/kubernetes.io~empty-dir/cache`;
const NFS = `${TOP}/u1/volumes/kubernetes.io~nfs/share`;

const ROOT = '27 1 254:1 / / rw - ext4 /dev/vda1 rw';
const ON_NODE = tableOf(ROOT);
/** A container of its own image, with the emptyDir at /cache and one of another pod at /other. */
const IN_CONTAINER = tableOf(
  '400 399 0:80 / / rw - overlay overlay rw',
  `401 400 254:1 ${EMPTY_DIR} /cache rw - ext4 /dev/vda1 rw`,
  `402 400 254:1 ${TOP}/u2/volumes/kubernetes.io~empty-dir/cache /other rw - ext4 /dev/vda1 rw`,
);
const APART = tableOf('500 499 0:90 / / rw - overlay overlay rw');

function tableOf(...lines: readonly string[]): MountTable {
  return parseMountTable([...lines, ''].join('\n'), 'x');
}

function entry(pid: number, parent = 1): ProcessEntry {
  const facts = { state: 'S', startTime: '1', cgroups: ['/'], mountNamespace: 'mnt:[1]' };
  return { pid, parent, name: `process-${pid}`, ...facts };
}

function namespaceOf(table: MountTable, ...pids: readonly number[]): MountNamespace {
  const [pid = 0] = pids;
  const seen = { namespace: `mnt:[${pid}]`, processName: `process-${pid}`, cgroups: ['/'] };
  return { ...seen, pid, pids, root: '/', table };
}

/** What a process is asked for depends on what its namespace shows of the volumes. */
type Asked = Readonly<{ under: readonly string[]; mountIds: readonly number[] }>;
const OF_NODE: Asked = { under: [TOP], mountIds: [] };
const OF_CONTAINER: Asked = { under: [], mountIds: [401] };

class Node extends NodeMaker {
  readonly processes: ProcessEntry[] = [];

  holds(pid: number, asked: Asked, held: readonly OpenFile[] | ReadFailure): this {
    this.processes.push(entry(pid));
    return this.set(
      'openFiles',
      { filesOf: pid, ...asked },
      typeof held === 'string' ? { failure: held } : { answer: held },
    );
  }

  async writers(bases: readonly Base[], ...namespaces: readonly MountNamespace[]) {
    this.set('processes', { all: 'processes' }, { answer: this.processes });
    const around = { top: TOP, namespaces: { namespaces, notSeen: [] }, table: ON_NODE };
    const { writers, isWhole } = await writersBelow(takeSnapshot(this.build()), bases, around);
    return { isWhole, writers: writers.map(({ process, ...rest }) => [process.pid, rest]) };
  }
}

const opened = (by: string, path: string): OpenFile => ({ by, path, mount: 1 });
const CACHE: Base = { path: EMPTY_DIR, mounts: [] };

test('a container uses a volume under a path of its own, a process of the node under the same', async () => {
  const node = new Node()
    .holds(40, OF_NODE, [opened('fd/3', `${TOP}/u2/x`), opened('cwd', `${EMPTY_DIR}/a`)])
    .holds(50, OF_CONTAINER, [opened('fd/5', '/cache/app.log'), opened('fd/6', '/cache/b')]);
  const { writers, isWhole } = await node.writers(
    [CACHE],
    namespaceOf(ON_NODE, 40),
    namespaceOf(IN_CONTAINER, 50),
  );
  // Each process is named once, and the container, which has the volume mounted, is first.
  expect(writers).toEqual([
    [50, { base: EMPTY_DIR, by: 'fd/5', path: '/cache/app.log' }],
    [40, { base: EMPTY_DIR, by: 'cwd', path: `${EMPTY_DIR}/a` }],
  ]);
  expect(isWhole).toBe(true);
});

test('a process that uses two volumes is named for each of them', async () => {
  const other = `${TOP}/u1/volumes/kubernetes.io~empty-dir/cache-2`;
  const files = [opened('fd/3', `${other}/x`), opened('fd/4', `${EMPTY_DIR}/y`)];
  const node = new Node().holds(40, OF_NODE, files);
  const bases = [CACHE, { path: other, mounts: [] }];
  const { writers } = await node.writers(bases, namespaceOf(ON_NODE, 40));
  expect(writers).toEqual([
    [40, { base: other, by: 'fd/3', path: `${other}/x` }],
    [40, { base: EMPTY_DIR, by: 'fd/4', path: `${EMPTY_DIR}/y` }],
  ]);
});

test('a file that was deleted while open is still used', async () => {
  const node = new Node().holds(50, OF_CONTAINER, [opened('fd/5', '/cache (deleted)')]);
  const { writers } = await node.writers([CACHE], namespaceOf(IN_CONTAINER, 50));
  expect(writers).toMatchObject([[50, { path: '/cache (deleted)' }]]);
});

test('what the container still has mounted of a network volume is used too', async () => {
  const table = tableOf(
    '400 399 0:80 / / rw - overlay overlay rw',
    '403 400 0:57 /export /data rw - nfs4 nas:/export rw',
    '404 400 0:57 /home /home rw - nfs4 nas:/home rw',
  );
  const namespace = namespaceOf(table, 50);
  const mounts = table.mounts.filter(({ id }) => id === 403);
  const base = { path: NFS, mounts: mounts.map((mount) => ({ namespace, mount })) };
  const asked = { under: [], mountIds: [403] };
  const files = [opened('fd/4', '/srv/x'), opened('fd/5', '/data/x')];
  const { writers } = await new Node().holds(50, asked, files).writers([base], namespace);
  expect(writers).toEqual([[50, { base: NFS, by: 'fd/5', path: '/data/x' }]]);
});

test('a process that sees none of the volumes, and a thread of the kernel, are not asked', async () => {
  const node = new Node();
  node.processes.push(entry(2, 0), entry(30, 2), entry(60));
  const namespaces = [namespaceOf(ON_NODE, 2, 30), namespaceOf(APART, 60)];
  expect(await node.writers([CACHE], ...namespaces)).toEqual({ writers: [], isWhole: true });
});

test('without a volume nobody is asked', async () => {
  const around = { top: TOP, namespaces: { namespaces: [], notSeen: [] }, table: ON_NODE };
  const nobody = writersBelow(takeSnapshot(new NodeMaker().build()), [], around);
  expect(await nobody).toEqual({ writers: [], isWhole: true });
});

test.each([
  ['has ended', 'missing', true],
  ['may not be asked', 'denied', false],
  ['does not answer', 'timeout', false],
] as const)('of a process that %s, nothing is listed', async (_, failure, isWhole) => {
  const node = new Node()
    .holds(40, OF_NODE, failure)
    .holds(41, OF_NODE, [opened('cwd', EMPTY_DIR)]);
  // Process 42 has ended since the namespaces were read.
  const found = await node.writers([CACHE], namespaceOf(ON_NODE, 40, 41, 42));
  expect(found).toEqual({
    isWhole,
    writers: [[41, { base: EMPTY_DIR, by: 'cwd', path: EMPTY_DIR }]],
  });
});

test.each([
  [256, true],
  [257, false],
])('of %i processes the list is complete: %s', async (count, isWhole) => {
  const pids = Array.from({ length: count }, (_, index) => 1000 + index);
  const node = new Node();
  for (const pid of pids) node.holds(pid, OF_NODE, [opened('cwd', EMPTY_DIR)]);
  const found = await node.writers([CACHE], namespaceOf(ON_NODE, ...pids));
  expect([found.isWhole, found.writers.length]).toEqual([isWhole, 256]);
});
