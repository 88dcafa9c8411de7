import { parseGoroutineDump } from '../../src/lib/go/dump-parser.ts';
import { LOG_BYTES } from '../../src/node/evidence/limits.ts';
import { linesIn } from '../../src/node/evidence/logs/log-entries.ts';
import type { FileStatus, ProcessEntry } from '../../src/node/model/node-reader.ts';
import type { Thread } from '../../src/node/model/thread.ts';
import type { OptionalReads } from '../describe-fault.ts';
import { type NodeMaker, type SyntheticNodes, syntheticNodes } from '../synthetic-node.ts';
import { KUBELET_ROOT, type SyntheticWorker, syntheticWorker } from '../synthetic-worker.ts';

export const ORPHAN = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';
const LIVE = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const HTTP = { scheme: 'http', address: '127.0.0.1', port: 10255 } as const;
const HTTPS = { scheme: 'https', address: '127.0.0.1', port: 10250 } as const;

/** Where a pod has a volume of this kind mounted. */
const volume = (plugin: string, name: string, uid = ORPHAN) =>
  `${KUBELET_ROOT}/pods/${uid}/volumes/kubernetes.io~${plugin}/${name}`;
const CEPHFS = volume('cephfs', 'data');
const NFS = volume('nfs', 'share');
const CSI = `${volume('csi', 'pvc-7')}/mount`;
const OTHER_ORPHAN = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a12';
const OTHER_CSI = `${volume('csi', 'pvc-7', OTHER_ORPHAN)}/mount`;

const line = (id: number, target: string, type: string, source: string, device = '0:57') =>
  `${id} 27 ${device} / ${target} rw,relatime shared:90 - ${type} ${source} rw`;
const cephfsLine = line(210, CEPHFS, 'ceph', '10.0.0.7:6789:/volumes/data');
const csiLine = line(211, CSI, 'fuse.ceph-fuse', 'ceph-fuse');
const FUSE_CONTROL = '/sys/fs/fuse/connections';
const fuseControlLine = `29 21 0:48 / ${FUSE_CONTROL} rw shared:20 - fusectl none rw`;
const nfsLine = line(212, NFS, 'nfs4', 'nas.example:/export/share');

const apiPod = (uid = LIVE) => ({
  metadata: {
    name: 'web-0',
    namespace: 'default',
    uid,
    annotations: { 'kubernetes.io/config.source': 'api' },
  },
  spec: { restartPolicy: 'Always', containers: [{ name: 'app' }] },
  status: { phase: 'Running' },
});

/** The kubelet still lists it, though nothing of it runs. */
const endedPod = (metadata: Readonly<Record<string, string>>, phase: string) => {
  const pod = apiPod();
  return { ...pod, metadata: { ...pod.metadata, name: 'reader', ...metadata }, status: { phase } };
};

type Probe = 'dead' | 'alive' | 'slow' | 'ENOTCONN';

interface DeadNode extends Partial<SyntheticWorker> {
  /** What each mount answers when it is asked. */
  readonly probes?: Readonly<Record<string, Probe>>;
  /** Paths on which a thread of the kubelet waits. */
  /** null: a path that cannot be read. */
  readonly waitsOn?: readonly (string | null)[];
  /** For how long earlier looks have seen them wait there, and in which call. */
  readonly waited?: { readonly ms: number; readonly call?: 'statfs' };
  readonly threadsFail?: boolean;
  /** The stacks of the threads that wait, in the same order; without them they cannot be read. */
  readonly stacks?: readonly MadeStack[];
  readonly health?: 'ok' | 'failing' | 'denied';
  readonly log?: readonly string[];
  readonly dump?: string;
  /** The kubelet wants credentials for its list of pods. */
  readonly hidesPods?: boolean;
  /** A process in the cgroup of this pod. */
  readonly runs?: string;
  /** Requests that wait for the server of the FUSE filesystem 0:57. */
  readonly requests?: number;
}

interface MadeStack {
  /** The innermost first. */
  readonly functions: readonly string[];
  /** Seen only once, so it may be at work. */
  readonly isNew?: boolean;
  readonly brokenBy?: string;
}

const FOLDER: FileStatus = {
  type: 'folder',
  mode: 0o755,
  owner: 0,
  device: '0:57',
  inode: '1',
  links: 2,
  sizeBytes: 4096,
  modifiedMs: 0,
};

function deadNode(created: DeadNode): NodeMaker {
  const pods = created.hidesPods ? {} : { pods: created.pods ?? [apiPod()] };
  const maker = syntheticWorker({ mounts: [], ...created, ...pods });
  maker.clock = new Date('2026-04-04T16:40:00Z');
  for (const [target, probe] of Object.entries(created.probes ?? {}))
    addProbe(maker, target, probe);
  if (created.requests !== undefined) {
    maker.file(`/proc/812/root${FUSE_CONTROL}/57/waiting`, `${created.requests}\n`);
  }
  addThreads(maker, created);
  maker.set('processes', { all: 'processes' }, { answer: processesOf(created.runs) });
  addHealth(maker, created.health ?? 'ok');
  addLog(maker, created.log ?? QUIET_LOG);
  const page = { ...HTTPS, path: '/debug/pprof/goroutine?debug=2' };
  const asked = { ...page, as: 'goroutines' } as const;
  if (created.dump === undefined) maker.set('goroutines', asked, { failure: 'denied' });
  else maker.set('goroutines', asked, { answer: parseGoroutineDump(created.dump) });
  return maker;
}

function addProbe(maker: NodeMaker, target: string, probe: Probe): void {
  const path = `/proc/812/root${target}`;
  const status = { answer: FOLDER };
  const detail = `ENOTCONN: socket is not connected, lstat '${path}'`;
  const first = {
    alive: status,
    dead: TIMEOUT,
    slow: TIMEOUT,
    ENOTCONN: { failure: 'failed', detail },
  };
  maker.set('status', { path }, first[probe] as { readonly answer: FileStatus });
  if (probe === 'slow') maker.set('status', { path, patience: 'long' }, status);
  if (probe === 'dead') {
    const still = { failure: 'timeout', detail: 'reader 4711 still waits there' } as const;
    maker.set('status', { path, patience: 'long' }, still);
  }
}

const TIMEOUT = { failure: 'timeout' } as const;

const idle: Thread = {
  tid: 812,
  name: 'kubelet',
  state: 'S',
  waitsIn: 'futex_wait_queue',
  systemCall: 202,
  callName: null,
  path: null,
};

const STATFS = '137 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0x0 0xc000995298 0x4a1b2e';
const NEWFSTATAT =
  '262 0xffffffffffffff9c 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0xc000995298 0x4a1b2e';

function addThreads(
  maker: NodeMaker,
  { waitsOn = [], waited, threadsFail, stacks }: DeadNode,
): void {
  const callLine = waited?.call === 'statfs' ? STATFS : NEWFSTATAT;
  const waiting = waitsOn.map((path, index) => ({
    ...idle,
    tid: 830 + index,
    waitsIn: 'wait_for_completion_killable_timeout',
    systemCall: Number.parseInt(callLine, 10),
    callName: waited?.call ?? 'newfstatat',
    path,
    ...(waited ? { callLine } : {}),
  }));
  if (waited) {
    const waits = waiting.map(({ tid, path }) => [
      `812/1532 ${tid} ${callLine} ${path}`,
      waited.ms,
    ]);
    maker.settings = { waitedMs: Object.fromEntries(waits) };
  }
  const answer = { answer: [idle, ...waiting] };
  maker.set('threads', { threadsOf: 812 }, threadsFail ? { failure: 'denied' } : answer);
  const walked = stacks?.map(({ functions, isNew, brokenBy }, index) => ({
    tid: 830 + index,
    state: 'D',
    waitsIn: 'wait_for_completion_killable_timeout',
    systemCall: 262,
    callName: 'newfstatat',
    path: waitsOn[index] ?? null,
    waitedMs: isNew ? 0 : 2000,
    frames: functions.map((name) => ({ function: name, offset: 64 })),
    ...(brokenBy === undefined ? {} : { brokenBy }),
  }));
  maker.set('stacks', { stacksOf: 812 }, walked ? { answer: walked } : { failure: 'denied' });
}

function processesOf(runs: string | undefined): readonly ProcessEntry[] {
  const process = (pid: number, name: string, cgroup: string): ProcessEntry => ({
    pid,
    parent: 1,
    name,
    state: 'S',
    startTime: '1532',
    cgroups: [cgroup],
    mountNamespace: 'mnt:[4026531841]',
  });
  const slice = `/kubepods.slice/kubepods-pod${(runs ?? '').replaceAll('-', '_')}.slice`;
  return [
    process(1, 'systemd', '/init.scope'),
    process(812, 'kubelet', '/system.slice/kubelet.service'),
    ...(runs === undefined ? [] : [process(990, 'app', `${slice}/cri-containerd-4f0c.scope`)]),
  ];
}

function addHealth(maker: NodeMaker, health: 'ok' | 'failing' | 'denied'): void {
  const failing =
    '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n';
  const answer = {
    ok: { status: 200, body: 'ok' },
    failing: { status: 500, body: failing },
    denied: { status: 401, body: 'Unauthorized' },
  }[health];
  for (const endpoint of [HTTP, HTTPS]) {
    for (const path of ['/healthz', '/healthz/syncloop']) {
      maker.set('kubelet', { ...endpoint, path }, { answer });
    }
  }
}

const QUIET_LOG = [
  'I0404 16:39:14.331705     812 kubelet.go:1966] Starting kubelet main sync loop',
];

/** In the words of kubelet v1.17: its log is the file that it writes to. */
function addLog(maker: NodeMaker, lines: readonly string[]): void {
  maker.link('/proc/812/fd/1', '/dev/null').link('/proc/812/fd/2', '/var/log/kubelet.log');
  maker.folder('/proc/812/root/var/log', ['kubelet.log']);
  const modifiedMs = Date.parse('2026-04-04T16:39:14Z');
  const answer = linesIn([`${lines.join('\n')}\n`], { modifiedMs });
  const { containing } = answer;
  const asked = { log: { file: '/proc/812/fd/2' }, containing, lastBytes: LOG_BYTES };
  maker.set('log', asked, { answer });
}

const SILENT_LOG = [
  `E0330 15:57:58.114341     812 nestedpendingoperations.go:270] Operation for "\\"kubernetes.io/cephfs/${ORPHAN}-data\\"" failed. No retries permitted until 2026-03-30 15:58:30.1 +0000 UTC m=+1.1 (durationBeforeRetry 32s). Error: "error cleaning subPath mounts for volume \\"data\\" (UniqueName: \\"kubernetes.io/cephfs/${ORPHAN}-data\\") pod \\"${ORPHAN}\\" (UID: \\"${ORPHAN}\\") : unmount failed: exit status 32\\nUnmounting arguments: ${CEPHFS}\\nOutput: umount: ${CEPHFS}: target is busy.\\n"`,
  'I0330 15:58:27.145341     812 kubelet.go:1966] SyncLoop (PLEG): "reporter-dhrkc_default(2c69ba04-c0de-46a6-adc7-6b050ee97e07)", event: &pleg.PodLifecycleEvent{ID:"2c69ba04-c0de-46a6-adc7-6b050ee97e07", Type:"ContainerStarted", Data:"18b1e68dd2bc"}',
  'I0330 15:58:27.936114     812 kubelet.go:2012] SyncLoop (housekeeping)',
  'I0404 16:39:14.331705     812 healthz.go:177] healthz check syncloop failed: sync Loop took longer than expected',
];

const PLEG_LINE =
  'E0404 16:39:14.931705     812 kubelet.go:1879] skipping pod synchronization - [container runtime is down, PLEG is not healthy: pleg was last seen active 3m13.1s ago; threshold is 3m0s]';

const UNMOUNTER_LINE = `E0330 15:57:58.114341     812 nestedpendingoperations.go:270] UnmountVolume.NewUnmounter failed for volume "data" (UniqueName: "x") pod "${ORPHAN}" (UID: "${ORPHAN}") : open vol_data.json: no such file or directory`;
const RECONSTRUCTION_LINE = `E0330 15:57:58.114341     812 reconciler.go:376] Could not construct volume information, cleanup the mounts. (pod.UID ${ORPHAN}, volume.SpecName data): no volume plugin matched`;
const TEARDOWN_LINE = `E0330 15:57:58.114341     812 nestedpendingoperations.go:270] UnmountVolume.TearDown failed for volume "data" (UniqueName: "x") pod "${ORPHAN}" (UID: "${ORPHAN}") : rmdir: device or resource busy`;

/** A loop that was at work after the complaint of its health check, and one that was not. */
const COMPLAINT =
  'I0404 16:20:14.331705     812 healthz.go:177] healthz check syncloop failed: sync Loop took longer than expected';
const LOOP_SINCE = [COMPLAINT, QUIET_LOG[0] ?? ''];
const LONG_AGO = [
  COMPLAINT.replace('16:20', '15:20'),
  'E0404 16:39:14.331705     812 nestedpendingoperations.go:270] Output: umount: /x: target is busy.',
];
/** In newer versions the complaint is the second line of an entry, without a time. */
const UNTIMED_COMPLAINT = [QUIET_LOG[0] ?? '', '[-]syncloop failed: reason withheld'];

const SHORT_SILENT_LOG = [
  'I0404 16:37:02.936114     812 kubelet.go:2012] SyncLoop (housekeeping)',
  'I0404 16:39:02.331705     812 kubelet_node_status.go:70] something else',
];

const stack = (state: string, ...functions: readonly string[]) =>
  [
    `goroutine 331 [${state}]:`,
    ...functions.flatMap((name) => [`${name}(0xc0001, 0x2)`, '\t/src/kubelet.go:1 +0x1']),
    'created by k8s.io/kubernetes/cmd/kubelet/app.startKubelet',
    '\t/src/server.go:1 +0x1',
    '',
    'goroutine 1 [select, 900 minutes]:',
    'main.main()',
    '\t/src/main.go:1 +0x1',
    '',
  ].join('\n');

const K = 'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).';
const LOOP = [`${K}syncLoopIteration`, `${K}syncLoop`, `${K}Run`];
const CLEANUP_CALLS = [
  'syscall.Syscall6',
  'syscall.fstatat',
  'syscall.Stat',
  'os.statNolog',
  'os.Stat',
  'k8s.io/mount-utils.PathExists',
  `${K}getPodVolumePathListFromDisk`,
  `${K}podVolumesExist`,
  `${K}cleanupOrphanedPodDirs`,
  `${K}HandlePodCleanups`,
  ...LOOP,
];
const AMONG_ORPHANS = stack('syscall, 7 minutes', ...CLEANUP_CALLS);
/** As the memory of its thread shows it. */
const CLEANUP_STACK = { functions: [...CLEANUP_CALLS, 'runtime.goexit.abi0'] };
const ADDITION_STACK = {
  functions: [
    'syscall.Syscall6',
    'os.Stat',
    `${K}getPodVolumePathListFromDisk`,
    `${K}HandlePodAdditions`,
    ...LOOP,
    'runtime.goexit.abi0',
  ],
};
const STATISTICS_STACK = {
  functions: [
    'syscall.Syscall',
    'golang.org/x/sys/unix.Statfs',
    'k8s.io/kubernetes/pkg/volume/util/fs.Info',
    'k8s.io/kubernetes/pkg/kubelet/server/stats.(*volumeStatCalculator).calcAndStoreStats',
    'k8s.io/apimachinery/pkg/util/wait.JitterUntil',
    'runtime.goexit',
  ],
};
const IN_DEVICE_PLUGIN = stack(
  'select, 12 minutes',
  'google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader',
  'google.golang.org/grpc.(*csAttempt).recvMsg',
  'google.golang.org/grpc.(*ClientConn).Invoke',
  'k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.(*endpointImpl).allocate',
  'k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.(*ManagerImpl).Allocate',
  'k8s.io/kubernetes/pkg/kubelet/cm/topologymanager.(*scope).allocateAlignedResources',
  `${K}canAdmitPod`,
  `${K}HandlePodAdditions`,
  ...LOOP,
);
const AT_EASE = stack('select', ...LOOP);
const SLEEPS = stack('sleep', 'time.Sleep', `${K}syncLoop`, `${K}Run`);
const IN_A_PLUGIN_FOR_A_MINUTE = IN_DEVICE_PLUGIN.replace('12 minutes', '1 minutes');
const TWO_LOOPS = `${AT_EASE}\n${AT_EASE.replace('goroutine 331', 'goroutine 332')}`;
/** Of a kubelet that has not begun with its loop. */
const WITHOUT_LOOP = stack('select, 2 minutes', 'k8s.io/kubernetes/pkg/kubelet/cm.start');
const AMONG_ORPHANS_FOR_A_MOMENT = AMONG_ORPHANS.replace('syscall, 7 minutes', 'syscall');
const WRITES_ITS_LOG = stack(
  'syscall, 4 minutes',
  'syscall.Syscall',
  'syscall.write',
  'os.(*File).Write',
  'k8s.io/klog/v2.(*loggingT).output',
  `${K}cleanupOrphanedPodDirs`,
  `${K}HandlePodCleanups`,
  ...LOOP,
);
const REMOVES_A_LARGE_FOLDER = stack(
  'syscall, 3 minutes',
  'syscall.unlinkat',
  'os.Remove',
  'k8s.io/kubernetes/pkg/util/removeall.removeAllOneFilesystemCommon',
  'k8s.io/kubernetes/pkg/util/removeall.RemoveDirsOneFilesystem',
  `${K}cleanupOrphanedPodDirs`,
  `${K}HandlePodCleanups`,
  ...LOOP,
);

const orphaned = { mounts: [cephfsLine], probes: { [CEPHFS]: 'dead' } } as const;
const csi = { mounts: [csiLine], probes: { [CSI]: 'dead' }, version: 'v1.36.3' } as const;
/** A worker node without any credential: the kubelet reports nothing. */
const csiHidden = { ...csi, waitsOn: [CSI], health: 'denied', hidesPods: true } as const;
const nfs: DeadNode = { mounts: [nfsLine], probes: { [NFS]: 'dead' } };
const filesystems = (plugin: string, uid: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    target: volume(plugin, `pvc-${index}`, uid),
    device: `0:${70 + index}`,
    id: 300 + index,
  }));
const deadOrphans = filesystems('cephfs', ORPHAN, 5);
const deadMountLines = deadOrphans.map(({ id, target, device }) =>
  line(id, target, 'ceph', '10.0.0.7:6789:/volumes/data', device),
);
const deadProbes = Object.fromEntries(deadOrphans.map(({ target }) => [target, 'dead'] as const));
const liveTarget = volume('nfs', 'share', LIVE);
const liveLine = line(213, liveTarget, 'nfs4', 'nas.example:/export/live', '0:58');
const otherLiveLine = line(
  221,
  volume('nfs', 'other', LIVE),
  'nfs4',
  'nas.example:/export/other',
  '0:60',
);
const csiSubpath = `${KUBELET_ROOT}/pods/${ORPHAN}/volume-subpaths/pvc-7/app`;
const subpath = `${KUBELET_ROOT}/pods/${ORPHAN}/volume-subpaths/data/app/0`;

const described: Readonly<Record<string, DeadNode>> = {
  'active-cephfs': {
    ...orphaned,
    version: 'v1.17.4',
    waitsOn: [CEPHFS],
    health: 'failing',
    log: SILENT_LOG,
  },
  'active-csi-by-its-stacks': { ...csi, waitsOn: [CSI], health: 'denied', dump: AMONG_ORPHANS },
  'active-by-stacks-without-threads': {
    ...csi,
    threadsFail: true,
    health: 'denied',
    dump: AMONG_ORPHANS,
  },
  'active-without-any-credential': {
    ...orphaned,
    version: 'v1.20.2',
    waitsOn: [CEPHFS],
    health: 'denied',
    log: SHORT_SILENT_LOG,
    hidesPods: true,
  },
  'active-by-the-stack-of-its-thread': { ...csiHidden, stacks: [CLEANUP_STACK] },
  'active-by-a-stack-in-another-branch': { ...csiHidden, stacks: [ADDITION_STACK] },
  'active-by-a-stack-that-breaks-off': {
    ...csiHidden,
    stacks: [{ functions: CLEANUP_CALLS.slice(0, 10), brokenBy: 'memory that may not be read' }],
  },
  'active-and-another-pod-of-the-filesystem': {
    ...csiHidden,
    mounts: [csiLine, line(216, OTHER_CSI, 'fuse.ceph-fuse', 'ceph-fuse')],
    probes: { [CSI]: 'dead', [OTHER_CSI]: 'dead' },
    stacks: [CLEANUP_STACK],
  },
  'latent-the-stack-was-seen-once': {
    ...csiHidden,
    stacks: [{ ...CLEANUP_STACK, isNew: true }],
  },
  'latent-the-stack-is-of-statistics': { ...csiHidden, stacks: [STATISTICS_STACK] },
  'active-with-a-subpath': {
    mounts: [cephfsLine, line(214, subpath, 'ceph', '10.0.0.7:6789:/volumes/data')],
    probes: { [CEPHFS]: 'dead', [subpath]: 'dead' },
    waitsOn: [CEPHFS],
    health: 'failing',
  },
  'active-on-an-unknown-mount': { health: 'failing', dump: AMONG_ORPHANS, threadsFail: true },
  // Old kubelets call the list of events unhealthy because the loop no longer takes any.
  'active-and-the-list-of-events-complains': {
    ...orphaned,
    version: 'v1.17.4',
    waitsOn: [CEPHFS],
    health: 'failing',
    log: [...SILENT_LOG, PLEG_LINE],
  },
  'active-by-stacks-and-the-list-of-events-complains': {
    ...csi,
    waitsOn: [CSI],
    health: 'denied',
    dump: AMONG_ORPHANS,
    log: [...SILENT_LOG, PLEG_LINE],
  },
  'latent-nobody-waits': { ...orphaned },
  'active-with-subpaths-of-a-csi-volume': {
    ...csi,
    mounts: [
      line(217, `${csiSubpath}/0`, 'fuse.ceph-fuse', 'ceph-fuse'),
      line(218, `${csiSubpath}/1`, 'fuse.ceph-fuse', 'ceph-fuse'),
      csiLine,
    ],
    waitsOn: [CSI],
    health: 'failing',
  },
  'active-a-thread-waits-for-long-and-the-loop-is-still': {
    ...orphaned,
    waitsOn: [CEPHFS],
    waited: { ms: 7 * 60_000 },
    health: 'failing',
  },
  'active-after-a-teardown-that-failed': {
    ...orphaned,
    waitsOn: [CEPHFS],
    health: 'failing',
    log: [TEARDOWN_LINE],
  },
  'active-on-an-unknown-mount-after-a-failed-unmount': {
    health: 'failing',
    threadsFail: true,
    dump: AMONG_ORPHANS,
    log: SILENT_LOG,
  },
  'active-on-an-unknown-mount-after-a-failed-teardown': {
    health: 'failing',
    threadsFail: true,
    dump: AMONG_ORPHANS,
    log: [TEARDOWN_LINE],
  },
  'active-and-another-thread-of-another-filesystem': {
    mounts: [cephfsLine, line(219, NFS, 'nfs4', 'nas.example:/export/share', '0:59')],
    probes: { [CEPHFS]: 'dead', [NFS]: 'dead' },
    waitsOn: [CEPHFS],
    health: 'failing',
    dump: AMONG_ORPHANS,
    version: 'v1.20.2',
  },
  'latent-requests-wait-for-the-server': {
    ...csi,
    mounts: [fuseControlLine, csiLine],
    requests: 3,
    log: [UNMOUNTER_LINE],
  },
  'latent-one-request-waits-for-the-server': {
    ...csi,
    mounts: [fuseControlLine, csiLine],
    requests: 1,
    log: [RECONSTRUCTION_LINE],
  },
  'latent-nfs-and-a-newer-kubelet-waits-all-the-same': {
    ...nfs,
    version: 'v1.36.3',
    waitsOn: [NFS],
  },
  'latent-the-loop-sleeps': { ...orphaned, waitsOn: [CEPHFS], health: 'denied', dump: SLEEPS },
  'latent-the-loop-came-back-after-the-complaint': {
    ...orphaned,
    waitsOn: [CEPHFS],
    health: 'denied',
    log: LOOP_SINCE,
  },
  'latent-the-complaint-is-of-long-ago': {
    ...orphaned,
    waitsOn: [CEPHFS],
    health: 'denied',
    log: LONG_AGO,
  },
  'active-by-a-complaint-without-a-time': {
    ...orphaned,
    waitsOn: [CEPHFS],
    health: 'denied',
    log: UNTIMED_COMPLAINT,
  },
  'latent-a-complaint-without-a-time-before-the-loop': {
    ...orphaned,
    waitsOn: [CEPHFS],
    health: 'denied',
    log: UNTIMED_COMPLAINT.toReversed(),
  },
  'latent-the-log-is-silent-for-less-than-a-minute': {
    ...orphaned,
    waitsOn: [CEPHFS],
    health: 'denied',
    log: [
      ...SHORT_SILENT_LOG.slice(0, 1),
      'I0404 16:37:52.331705     812 kubelet_node_status.go:70] something else',
    ],
  },
  'latent-threads-of-which-one-has-no-stack': {
    ...csiHidden,
    waitsOn: [CSI, `${CSI}/folder`],
    stacks: [STATISTICS_STACK],
  },
  'latent-two-threads-of-statistics': {
    ...csiHidden,
    waitsOn: [CSI, `${CSI}/folder`],
    stacks: [STATISTICS_STACK, STATISTICS_STACK],
  },
  'latent-statistics-and-the-loop-seen-once': {
    ...csiHidden,
    waitsOn: [CSI, `${CSI}/folder`],
    stacks: [STATISTICS_STACK, { ...CLEANUP_STACK, isNew: true }],
  },
  'latent-a-stack-without-calls': {
    ...csiHidden,
    stacks: [{ functions: [], brokenBy: 'memory that may not be read' }],
  },
  'latent-a-stack-of-one-call': { ...csiHidden, stacks: [{ functions: ['syscall.Syscall6'] }] },
  'latent-a-stack-of-no-part-of-the-kubelet': {
    ...csiHidden,
    stacks: [{ functions: ['syscall.Syscall', 'os.Stat', 'main.watch', 'runtime.goexit'] }],
  },
  'latent-more-dead-mounts-than-are-probed': { mounts: deadMountLines, probes: deadProbes },
  'latent-and-volumes-of-running-pods-are-not-probed': {
    mounts: [...deadMountLines.slice(0, 4), liveLine, otherLiveLine],
    probes: deadProbes,
    runs: LIVE,
  },
  'latent-and-a-volume-of-a-running-pod-is-not-probed': {
    mounts: [...deadMountLines.slice(0, 4), liveLine],
    probes: deadProbes,
    runs: LIVE,
  },
  'unclear-dump-without-a-loop': { health: 'failing', dump: WITHOUT_LOOP, threadsFail: true },
  'unclear-dump-with-two-loops': { health: 'failing', dump: TWO_LOOPS, threadsFail: true },
  'unclear-pod-of-a-network-volume': {
    mounts: [cephfsLine],
    probes: { [CEPHFS]: 'alive' },
    hidesPods: true,
    sandboxes: [{ podUid: ORPHAN, isReady: false }],
  },
  'latent-on-a-block-device': {
    mounts: [cephfsLine.replace(' - ceph ', ' - xfs ')],
    probes: { [CEPHFS]: 'dead' },
  },
  'newer-kubelet-than-verified-passes-by': {
    mounts: [nfsLine],
    probes: { [NFS]: 'dead' },
    version: 'v1.57.0',
  },
  'latent-a-thread-waits': { ...orphaned, waitsOn: [CEPHFS], health: 'denied' },
  'active-a-thread-waits-for-long': {
    ...orphaned,
    waitsOn: [CEPHFS],
    waited: { ms: 7 * 60_000 },
    health: 'denied',
    log: SILENT_LOG.slice(1, 2),
  },
  'latent-a-thread-waits-for-two-minutes': {
    ...orphaned,
    waitsOn: [CEPHFS],
    waited: { ms: 2 * 60_000 },
    health: 'denied',
  },
  'latent-statistics-wait-for-long': {
    ...orphaned,
    waitsOn: [CEPHFS],
    waited: { ms: 7 * 60_000, call: 'statfs' },
    health: 'denied',
    log: SILENT_LOG.slice(1, 2),
  },
  'latent-waits-for-long-and-is-healthy': {
    ...orphaned,
    waitsOn: [CEPHFS],
    waited: { ms: 7 * 60_000 },
    log: SILENT_LOG.slice(1, 2),
  },
  'latent-waits-for-long-and-the-log-moves': {
    ...orphaned,
    waitsOn: [CEPHFS],
    waited: { ms: 7 * 60_000 },
    health: 'denied',
  },
  'latent-the-loop-moves': { ...orphaned, waitsOn: [CEPHFS], dump: AT_EASE },
  'latent-list-of-static-pods-only': { ...orphaned, pods: [] },
  'latent-and-a-device-plugin': { ...orphaned, health: 'failing', dump: IN_DEVICE_PLUGIN },
  'newer-kubelet-passes-by': {
    mounts: [nfsLine],
    probes: { [NFS]: 'dead' },
    version: 'v1.36.3',
  },
  'newer-kubelet-passes-by-and-is-seen-there': {
    mounts: [nfsLine],
    probes: { [NFS]: 'dead' },
    version: 'v1.36.3',
    dump: AMONG_ORPHANS_FOR_A_MOMENT,
  },
  'writes-its-log': { health: 'failing', dump: WRITES_ITS_LOG },
  'removes-a-large-folder': { health: 'failing', dump: REMOVES_A_LARGE_FOLDER },
  'unclear-path-of-a-thread': { health: 'failing', waitsOn: [null] },
  'loop-sleeps-until-the-runtime-is-ready': { health: 'failing', dump: SLEEPS },
  'device-plugin-blocks-the-loop-for-a-minute': {
    health: 'failing',
    dump: IN_A_PLUGIN_FOR_A_MINUTE,
    log: [...SILENT_LOG.slice(1), PLEG_LINE],
  },
  'unclear-runtime-not-ready-and-a-dump-without-a-loop': {
    health: 'failing',
    threadsFail: true,
    dump: WITHOUT_LOOP,
    log: [...SILENT_LOG.slice(1), PLEG_LINE],
  },
  'device-plugin-blocks-the-loop': { health: 'failing', dump: IN_DEVICE_PLUGIN },
  'runtime-not-ready': {
    health: 'failing',
    log: [...SILENT_LOG.slice(1), PLEG_LINE],
  },
  'volume-of-a-live-pod-hangs': {
    mounts: [liveLine],
    probes: { [liveTarget]: 'dead' },
    waitsOn: [liveTarget],
    runs: LIVE,
  },
  'volume-of-a-live-pod-hangs-and-nobody-waits': {
    mounts: [liveLine],
    probes: { [liveTarget]: 'dead' },
    runs: LIVE,
  },
  'volume-of-a-live-pod-fails': {
    mounts: [liveLine],
    probes: { [liveTarget]: 'ENOTCONN' },
    runs: LIVE,
  },
  'volume-of-a-terminating-pod-hangs': {
    mounts: [liveLine],
    probes: { [liveTarget]: 'dead' },
    pods: [endedPod({ deletionTimestamp: '2026-04-04T16:30:00Z' }, 'Running')],
  },
  'volume-of-a-finished-pod-fails': {
    mounts: [liveLine],
    probes: { [liveTarget]: 'ENOTCONN' },
    pods: [endedPod({}, 'Succeeded')],
  },
  'active-and-a-volume-of-a-live-pod': {
    ...orphaned,
    mounts: [...(orphaned.mounts ?? []), liveLine],
    probes: { ...orphaned.probes, [liveTarget]: 'dead' },
    runs: LIVE,
  },
  'recorded-before-live-pods-were-asked': { mounts: [liveLine], runs: LIVE },
  'daemon-gone': { mounts: [csiLine], probes: { [CSI]: 'ENOTCONN' } },
  'only-slow': { mounts: [cephfsLine], probes: { [CEPHFS]: 'slow' }, waitsOn: [CEPHFS] },
  'answers-though-orphaned': { mounts: [cephfsLine], probes: { [CEPHFS]: 'alive' } },
  'pod-lives-in-its-cgroup': { ...orphaned, runs: ORPHAN, probes: {} },
  'covered-by-another': {
    mounts: [cephfsLine, `215 210 0:90 / ${CEPHFS} rw - tmpfs tmpfs rw`],
  },
  'stopped-sandbox-and-no-list': {
    ...orphaned,
    hidesPods: true,
    sandboxes: [{ podUid: ORPHAN, isReady: false }],
  },
  'loop-still-and-nobody-knows-why': { health: 'failing' },
  'loop-still-on-the-disk-of-the-node': {
    health: 'failing',
    waitsOn: [`${KUBELET_ROOT}/pods/${ORPHAN}/volumes/kubernetes.io~empty-dir/cache`],
  },
  'healthy-with-network-volumes': {
    mounts: [liveLine],
    probes: { [liveTarget]: 'alive' },
    runs: LIVE,
  },
  healthy: {},
};

/** An NFS mount of an orphaned pod is dead, on a kubelet of this version. */
export function nfsNode(version: string): NodeMaker {
  return deadNode({ ...nfs, version });
}

/** A mount of this type answers, or is not touched; whether its pod lives is not known. */
export function nodeOfUncertainPod(fsType: string, probe?: Probe): NodeMaker {
  return deadNode({
    mounts: [cephfsLine.replace(' - ceph ', ` - ${fsType} `)],
    ...(probe ? { probes: { [CEPHFS]: probe } } : {}),
    hidesPods: true,
    sandboxes: [{ podUid: ORPHAN, isReady: false }],
  });
}

/** As above, of a pod that is gone. */
export function nodeOfOrphan(fsType: string): NodeMaker {
  return deadNode({ mounts: [cephfsLine.replace(' - ceph ', ` - ${fsType} `)] });
}

export function nodes(): SyntheticNodes {
  return syntheticNodes(described, deadNode);
}

/** What a clear node can do without. */
export const optionalReads: readonly OptionalReads[] = [
  {
    reads: /^(?:log |link \/proc\/\d+\/fd\/[12]$|folder .*\/logs?$)/,
    why: 'the log dates what probes and threads show',
  },
  {
    reads: /^kubelet GET .*\/healthz$/,
    why: 'the health of the sync loop shows how long it waits on a dead mount',
  },
  {
    reads: /^kubelet GET .*\/pods$/,
    why: 'the runtime shows that the pod is gone, too',
    on: [
      'answers-though-orphaned',
      'covered-by-another',
      'daemon-gone',
      'newer-kubelet-passes-by',
      'newer-kubelet-passes-by-and-is-seen-there',
      'newer-kubelet-than-verified-passes-by',
      'only-slow',
    ],
  },
  {
    reads: /^(?:goroutines|stacks) /,
    why: 'no thread of the kubelet waits on a mount of an orphaned pod',
    on: [
      'device-plugin-blocks-the-loop',
      'device-plugin-blocks-the-loop-for-a-minute',
      'loop-sleeps-until-the-runtime-is-ready',
      'loop-still-and-nobody-knows-why',
      'loop-still-on-the-disk-of-the-node',
      'newer-kubelet-passes-by',
      'newer-kubelet-passes-by-and-is-seen-there',
      'newer-kubelet-than-verified-passes-by',
      'recorded-kubelet-1.18.8-healed',
      'removes-a-large-folder',
      'runtime-not-ready',
      'writes-its-log',
    ],
  },
  {
    reads: /^processes \/proc$/,
    why: 'every volume answers, so nobody asks who uses it',
    on: ['healthy-with-network-volumes', 'recorded-before-live-pods-were-asked'],
  },
  {
    reads: /^file .*\/kubelet\.json$/,
    why: 'the command line names the root directory of the kubelet',
    on: ['recorded-kubelet-1.18.8-healed'],
  },
];
