import type { Action } from '../src/node/model/action.ts';
import type { OpenFile } from '../src/node/model/node-reader.ts';
import { nodes, ORPHAN } from './faults/dead-volume-mount.ts';
import { type NodeMaker, nodeNamed } from './synthetic-node.ts';

export const DEAD_TARGET = `/var/lib/kubelet/pods/${ORPHAN}/volumes/kubernetes.io~cephfs/data`;
export const FORCE: Action<'force-unmount'> = {
  kind: 'force-unmount',
  id: 210,
  parent: 27,
  device: '0:57',
  root: '/',
  target: DEAD_TARGET,
  fsType: 'ceph',
  podUid: ORPHAN,
};

/** The recorded node of the fault, with what only a repair asks for. */
export function deadNode(name = 'active-cephfs'): NodeMaker {
  const maker = nodeNamed(name, nodes());
  const folder = { type: 'folder', mode: 0o755, owner: 0, device: '254:1', inode: '9' } as const;
  const answer = { ...folder, links: 2, sizeBytes: 0, modifiedMs: 0 };
  const names = DEAD_TARGET.split('/').slice(1, -1);
  for (const depth of names.keys()) {
    const path = `/proc/812/root/${names.slice(0, depth + 1).join('/')}`;
    maker.set('status', { path }, { answer });
  }
  maker
    .link('/proc/812/root', '/')
    .link('/proc/1/root', '/')
    .file('/proc/swaps', 'Filename Type Size Used Priority\n')
    .folder('/sys/block', ['sda', 'loop0', 'loop1'])
    .missing('file', '/sys/block/loop0/loop/backing_file')
    .missing('file', '/sys/block/loop1/loop/backing_file');
  for (const pid of [1, 812, 990]) holds(maker, pid, { by: 'cwd', path: '/' });
  return maker;
}

export const filesOf = (pid: number) => ({ filesOf: pid, under: [], mountIds: 'each' }) as const;

export function holds(maker: NodeMaker, pid: number, ...answer: readonly OpenFile[]): NodeMaker {
  return maker.set('openFiles', filesOf(pid), { answer });
}

/** The mount table with its lines changed. */
export function withMounts(maker: NodeMaker, change: (text: string) => string): NodeMaker {
  for (const recorded of [...maker.answers.entries()]) {
    const [key, value] = recorded;
    if (!key.includes('/proc/812/mountinfo') || !('answer' in value)) continue;
    maker.file('/proc/812/mountinfo', change(value.answer as string));
  }
  return maker;
}

/** What the first call leaves: its requests are ended, and the mount is still there. */
export function halfForced(): NodeMaker {
  const maker = deadNode();
  const detail = 'ENOTCONN: socket is not connected, lstat';
  return maker.set(
    'status',
    { path: `/proc/812/root${DEAD_TARGET}` },
    { failure: 'failed', detail },
  );
}
