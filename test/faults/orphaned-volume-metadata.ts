import { LOG_BYTES } from '../../src/node/evidence/limits.ts';
import { linesIn } from '../../src/node/evidence/logs/log-entries.ts';
import type { FileStatus, ProcessEntry } from '../../src/node/model/node-reader.ts';
import type { OptionalReads } from '../describe-fault.ts';
import { type NodeMaker, type SyntheticNodes, syntheticNodes } from '../synthetic-node.ts';
import { KUBELET_ROOT, type SyntheticWorker, syntheticWorker } from '../synthetic-worker.ts';

export const ORPHAN = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';
const LIVE = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const VIEW = '/proc/812/root';
const CSI = `${KUBELET_ROOT}/pods/${ORPHAN}/volumes/kubernetes.io~csi`;
const NOW = Date.parse('2026-04-04T16:40:00Z');

interface LeftNode extends Partial<SyntheticWorker> {
  /** Names in the directory of the volume; empty when nothing is left of the pod. */
  readonly names?: readonly string[];
  /** Whether the folder "mount" holds something. */
  readonly holdsData?: boolean;
  readonly isFresh?: boolean;
  readonly complains?: boolean | 'long ago';
  readonly hidesPods?: boolean;
  readonly isMountedElsewhere?: boolean;
}

const apiPod = {
  metadata: {
    name: 'web-0',
    namespace: 'default',
    uid: LIVE,
    annotations: { 'kubernetes.io/config.source': 'api' },
  },
  spec: { restartPolicy: 'Always', containers: [{ name: 'app' }] },
  status: { phase: 'Running' },
};

const status = (type: FileStatus['type'], inode: string, modifiedMs: number): FileStatus => ({
  type,
  mode: 0o640,
  owner: 0,
  device: '254:1',
  inode,
  links: 1,
  sizeBytes: 312,
  modifiedMs,
});

function leftNode(created: LeftNode): NodeMaker {
  const { names = ['vol_data.json'], holdsData, isFresh, hidesPods } = created;
  const pods = hidesPods ? {} : { pods: [apiPod] };
  const maker = syntheticWorker({ version: 'v1.36.3', mounts: [], ...created, ...pods });
  maker.clock = new Date(NOW);
  const modifiedMs = NOW - (isFresh ? 5_000 : 3_600_000);
  const folder = `${VIEW}${CSI}/pvc-7`;
  const uids = names.length === 0 ? [LIVE] : [LIVE, ORPHAN];
  maker.folder(`${VIEW}${KUBELET_ROOT}/pods`, uids);
  maker.set(
    'tree',
    { path: `${VIEW}${CSI}`, levels: ['*'] },
    names.length === 0 ? { failure: 'missing' } : { answer: [{ folder: 'pvc-7', names }] },
  );
  const entries = (some: readonly string[]) =>
    some.map((name) => ({
      name,
      status: status(
        name === 'mount' ? 'folder' : 'file',
        name === 'mount' ? '71' : '70',
        modifiedMs,
      ),
      isEmpty: name === 'mount' ? !holdsData : null,
    }));
  for (const some of [names, ['vol_data.json']]) {
    maker.set('entries', { path: folder, names: some }, { answer: entries(some) });
  }
  maker.set('status', { path: folder }, { answer: status('folder', '69', modifiedMs) });
  addProcesses(maker, created.isMountedElsewhere ?? false);
  addLog(maker, created.complains ?? false);
  return maker;
}

function addProcesses(maker: NodeMaker, isMountedElsewhere: boolean): void {
  const process = (pid: number, name: string, cgroup: string, namespace: string): ProcessEntry => ({
    pid,
    parent: 1,
    name,
    state: 'S',
    startTime: '1532',
    cgroups: [cgroup],
    mountNamespace: `mnt:[${namespace}]`,
  });
  const kubepods = `/kubepods/besteffort/pod${LIVE}/4f0c`;
  const all = [
    process(812, 'kubelet', '/system.slice/kubelet.service', '4026531841'),
    process(990, 'node_exporter', kubepods, '4026532011'),
  ];
  maker.set('processes', { all: 'processes' }, { answer: all });
  maker.link('/proc/812/root', '/').link('/proc/990/root', '/');
  const held = `501 500 0:57 / /host${CSI}/pvc-7/mount rw - fuse.ceph-fuse ceph-fuse rw`;
  maker.file(
    '/proc/990/mountinfo',
    [
      '499 1 0:70 / / rw - overlay overlay rw',
      '500 499 254:1 / /host rw - ext4 /dev/vda1 rw',
      ...(isMountedElsewhere ? [held] : []),
      '',
    ].join('\n'),
  );
}

function addLog(maker: NodeMaker, complains: boolean | 'long ago'): void {
  maker.link('/proc/812/fd/1', '/dev/null').link('/proc/812/fd/2', '/var/log/kubelet.log');
  maker.folder(`${VIEW}/var/log`, ['kubelet.log']);
  const time = complains === 'long ago' ? '0104 16:39:58.114341' : '0404 16:39:58.114341';
  const line = `E${time}     812 kubelet_volumes.go:263] "There were many similar errors. Turn up verbosity to see them." err="orphaned pod \\"${ORPHAN}\\" found, but error occurred when trying to remove the volumes dir: not a directory" numErrs=1`;
  const quiet = 'I0404 16:39:58.114341     812 kubelet.go:2012] "SyncLoop ADD" source="api"';
  const read = linesIn([`${complains ? line : quiet}\n`], { modifiedMs: NOW });
  const asked = {
    log: { file: '/proc/812/fd/2' },
    containing: read.containing,
    lastBytes: LOG_BYTES,
  };
  maker.set('log', asked, { answer: read });
}

const described: Readonly<Record<string, LeftNode>> = {
  'active-kubelet-complains': { complains: true },
  'active-with-an-empty-mount-folder': { complains: true, names: ['mount', 'vol_data.json'] },
  'latent-silent': {},
  'latent-list-hidden': { hidesPods: true },
  'active-list-hidden': { hidesPods: true, complains: true },
  'data-beside-it': { complains: true, names: ['mount', 'vol_data.json'], holdsData: true },
  'something-else-beside-it': { complains: true, names: ['notes.txt', 'vol_data.json'] },
  'mounted-in-another-namespace': {
    complains: true,
    names: ['mount', 'vol_data.json'],
    isMountedElsewhere: true,
  },
  'still-mounted': {
    names: ['mount', 'vol_data.json'],
    mounts: [`210 27 0:57 / ${CSI}/pvc-7/mount rw - fuse.ceph-fuse ceph-fuse rw`],
  },
  'latent-complained-long-ago': { complains: 'long ago' },
  'active-and-fresh': { isFresh: true, complains: true },
  'being-removed-just-now': { isFresh: true },
  'unclear-fresh-and-not-told-whether-it-lives': {
    ...{ isFresh: true, hidesPods: true },
    sandboxes: [{ podUid: ORPHAN, isReady: false }],
  },
  'pod-lives': { sandboxes: [{ podUid: ORPHAN, isReady: true }] },
  'not-told-whether-it-lives': {
    hidesPods: true,
    sandboxes: [{ podUid: ORPHAN, isReady: false }],
  },
  healthy: { names: [] },
};

export function nodes(): SyntheticNodes {
  const freshAndLogUnread = leftNode({ isFresh: true }).set(
    'link',
    { path: '/proc/812/fd/2' },
    { failure: 'denied' },
  );
  return {
    ...syntheticNodes(described, leftNode),
    'unclear-fresh-and-the-log-cannot-be-read': freshAndLogUnread.set(
      'link',
      { path: '/proc/812/fd/1' },
      { failure: 'denied' },
    ),
  };
}

/** A file of the volume is left, and the file system cannot say of which. */
export function unreadNode(): NodeMaker {
  const pods = { path: `${VIEW}${KUBELET_ROOT}/pods` };
  return leftNode({ complains: true }).set('folder', pods, { failure: 'denied' });
}

/** What a clear node can do without. */
export const optionalReads: readonly OptionalReads[] = [
  {
    reads: /^(?:link \/proc\/812\/fd\/1|folder \/proc\/812\/root\/var\/log)$/,
    why: 'the other output of the kubelet is the same log',
  },
  {
    reads: /^(?:log |link \/proc\/812\/fd\/[12]$|folder \/proc\/812\/root\/var\/log$)/,
    why: 'the log counts only for a file that was left a moment ago',
    on: ['healthy', 'pod-lives', 'still-mounted'],
  },
  {
    reads: /^kubelet GET .*\/pods$/,
    why: 'the runtime, the mount table or the age of the file decides',
    on: ['being-removed-just-now', 'pod-lives', 'still-mounted'],
  },
  {
    reads: /^(?:link \/proc\/\d+\/root|file \/proc\/990\/mountinfo)$/,
    why: 'a file that was left a moment ago is not judged',
    on: ['being-removed-just-now'],
  },
  {
    reads: /^processes \/proc$/,
    why: 'no file of a deleted pod is left, so nobody asks who uses it',
    on: ['healthy', 'pod-lives'],
  },
];
