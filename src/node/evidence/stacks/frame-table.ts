import { CAUSES, type Cause } from './stack-causes.ts';

/**
 * What a stack in a dump of a kubelet or a runtime means. Documents refer to a row by its number.
 * Only functions are matched, never files: edgecore and k3s contain the same packages, and build
 * paths differ.
 */
export interface FrameRow {
  readonly number: number;
  readonly cause: string;
  /** The kind of cause. */
  readonly kind: Cause;
  readonly advice: string;
  /** Any of these stacks matches the row. */
  readonly stacks: readonly StackPattern[];
  /** A wait of this many minutes is normal; 1 by default. */
  readonly normalMinutes: number;
}

export interface StackPattern {
  /**
   * Functions in this order, the innermost first, with any functions between them. Each step lists
   * alternatives. "(*Mounter).Unmount" is that method of any package; "net/http*" is a prefix.
   */
  readonly steps: readonly (readonly string[])[];
  /** This many steps are enough if the outermost calls are missing; all by default. */
  readonly enough: number;
  /** The first step must be the innermost call. */
  readonly isInnermost: boolean;
  /** The state of the goroutine, if the dump has it. */
  readonly state?: string;
  /** The minimum number of goroutines; fewer are normal. */
  readonly countMin: number;
}

const K = 'pkg/kubelet.(*Kubelet).';
const FILE_CALLS = ['syscall.*', 'golang.org/x/sys/unix.*', 'os.*', 'internal/poll.*'];
const CHILD = ['os/exec.(*Cmd).*', 'os.(*Process).*'];
const GRPC = ['google.golang.org/grpc*'];
const LOCK = ['sync.(*Mutex)*', 'sync.(*RWMutex)*', 'sync.runtime_Semacquire*', 'internal/sync.*'];
const HTTP = ['net/http*', 'golang.org/x/net/http2*', 'client-go/rest.(*Request).*'];
const ORPHANS = [`${K}cleanupOrphanedPodDirs`];
const CLEANUPS = [`${K}HandlePodCleanups`];
const PLUGINS = ['plugincache*', 'pluginwatcher*'];
const RELIST = ['pleg.(*GenericPLEG).relist', 'pleg.(*GenericPLEG).Relist'];

/** A CRI call of the kubelet, with all names that the type has had. */
function cri(...calls: readonly string[]): readonly string[] {
  return calls.flatMap((call) => [
    `(*remoteRuntimeService).${call}*`,
    `(*RemoteRuntimeService).${call}*`,
    `(*remoteImageService).${call}*`,
    `(*RemoteImageService).${call}*`,
  ]);
}

type Steps = readonly (readonly string[])[];

function row(number: number, kind: Cause, cause: string, steps: Steps): FrameRow {
  return rowOf(number, kind, cause, [pattern(steps)]);
}

function rowOf(
  number: number,
  kind: Cause,
  cause: string,
  stacks: readonly StackPattern[],
  normalMinutes = 1,
): FrameRow {
  return { number, kind, cause, advice: CAUSES[kind], stacks, normalMinutes };
}

function pattern(steps: Steps, more: Partial<StackPattern> = {}): StackPattern {
  return { steps, enough: steps.length, isInnermost: false, countMin: 1, ...more };
}

const UNMOUNT_FUNCTIONS = [
  '(*operationGenerator).GenerateUnmountVolumeFunc',
  '(*operationGenerator).GenerateUnmountDeviceFunc',
  '(*operationExecutor).UnmountVolume',
];

/** The first few are the fault of a dead volume of an orphaned pod. */
export const FRAME_TABLE: readonly FrameRow[] = [
  row(1, 'dead-mount', 'a dead mount of a pod that is gone (in-tree plugin)', [
    FILE_CALLS,
    ['(*Mounter).IsLikelyNotMountPoint'],
    ORPHANS,
  ]),
  row(2, 'dead-mount', 'a dead CSI mount of a pod that is gone', [
    FILE_CALLS,
    ['.PathExists'],
    [`${K}getPodVolumePathListFromDisk`],
    ORPHANS,
  ]),
  row(3, 'dead-mount', 'the removal of a volume directory on a dead or huge filesystem', [
    FILE_CALLS,
    [`${K}removeOrphanedPodVolumeDirs`],
    ORPHANS,
  ]),
  row(4, 'slow-folder', 'the removal of a big or slow pod directory', [
    ['removeall.RemoveAllOneFilesystem*', 'removeall.RemoveDirsOneFilesystem*'],
    ORPHANS,
  ]),
  row(5, 'storage', "the filesystem of the kubelet's own directory hangs", [
    FILE_CALLS,
    [`${K}listPodsFromDisk`],
  ]),
  rowOf(6, 'device-plugin', 'a device plugin does not answer the call to allocate', [
    pattern(
      [
        GRPC,
        ['devicemanager.(*endpointImpl).*'],
        [`${K}canAdmitPod`, 'allocation.(*manager).*', `${K}HandlePodAdditions`],
      ],
      { enough: 2 },
    ),
  ]),
  row(7, 'cadvisor', 'a lock of cAdvisor is never given back', [
    LOCK,
    ['cadvisor/manager.(*manager).*'],
    ['.GetCgroupStats'],
  ]),
  row(8, 'systemd', 'systemd or dbus does not answer while a cgroup is removed', [
    ['dbus.*', 'systemd.*', 'dbus/v5.*'],
    // The second name is in newer kubelets, such as v1.36.3.
    ['cm.(*cgroupManagerImpl).Destroy', 'cm.(*cgroupCommon).Destroy'],
  ]),
  row(9, 'runtime', 'the container runtime does not list its pods', [
    cri('ListPodSandbox', 'ListContainers'),
    ['(*kubeGenericRuntimeManager).GetPods'],
    CLEANUPS,
  ]),
  row(10, 'api-server', 'the API server does not answer while a mirror pod is deleted', [
    HTTP,
    ['.DeleteMirrorPod'],
    CLEANUPS,
  ]),
  rowOf(11, 'not-ready', 'the kubelet waits because the runtime or its event list is not ready', [
    pattern([['time.Sleep'], [`${K}syncLoop`]], { isInnermost: true }),
  ]),
  rowOf(
    12,
    'sync-loop',
    'the channel of pod events is full, because the sync loop does not read it',
    [pattern([RELIST], { isInnermost: true, state: 'chan send' })],
  ),
  row(13, 'runtime', 'the runtime hangs on one container, often because of its volume', [
    cri('PodSandboxStatus', 'ContainerStatus'),
    ['(*kubeGenericRuntimeManager).GetPodStatus'],
    ['pleg.(*GenericPLEG).updateCache'],
    RELIST,
  ]),
  row(14, 'runtime', 'the container runtime does not list its containers', [
    cri('ListContainers', 'ListPodSandbox'),
    RELIST,
  ]),
  row(15, 'lock', 'the lock of the pod workers is held by one of them', [
    LOCK,
    ['(*podWorkers).UpdatePod', '(*podWorkers).SyncKnownPods'],
  ]),
  row(16, 'api-server', 'the lock of the status manager is held while the API server is asked', [
    LOCK,
    ['kubelet/status.(*manager).*'],
  ]),
  rowOf(
    17,
    'volume',
    "a pod's volumes are not ready",
    [pattern([['wait.*'], ['.WaitForAttachAndMount'], [`${K}syncPod`, `${K}SyncPod`]])],
    // The kubelet itself times out, and retries, after 2m3s.
    3,
  ),
  row(18, 'unmount', 'umount(8) hangs on a dead server', [
    CHILD,
    ['(*Mounter).Unmount', '.tryUnmount', '.forceUmount'],
    ['operationexecutor.*'],
  ]),
  row(19, 'volume', 'mount(8) hangs', [CHILD, ['(*Mounter).doMount']]),
  row(20, 'csi-driver', 'a CSI driver does not answer', [GRPC, ['csi.(*csiDriverClient).Node*']]),
  row(21, 'live-mount', 'a dead mount of a pod that still runs: only its statistics hang', [
    ['syscall.Statfs', 'golang.org/x/sys/unix.Statfs'],
    ['fs.Info', '(*metricsStatFS).*', '(*cachedMetrics).*', '(*metricsCached).*'],
    ['(*volumeStatCalculator).calcAndStoreStats'],
  ]),
  row(22, 'load', 'the size of a huge directory is measured on a slow disk', [
    [...CHILD, ...FILE_CALLS, 'path/filepath.*', 'quota*'],
    ['fs.DiskUsage', '(*metricsDu).*', '(*realFsHandler).*', '(*RealFsInfo).GetDirUsage'],
  ]),
  row(
    23,
    'leftovers',
    "many or dead directories are read to rebuild the kubelet's view of volumes",
    [FILE_CALLS, ['.getVolumesFromPodDir']],
  ),
  rowOf(24, 'leftovers', 'unmounts pile up', [
    pattern([UNMOUNT_FUNCTIONS, ['(*nestedPendingOperations).Run']], { countMin: 100 }),
    pattern([['(*nestedPendingOperations).Run'], UNMOUNT_FUNCTIONS], { countMin: 100 }),
  ]),
  row(25, 'log-removal', 'the logs of dead containers are removed slowly', [
    ['(*containerLogManager).Clean'],
    ['.removeContainerLog'],
  ]),
  row(26, 'runtime', 'the lock of the log manager is held while the runtime is asked', [
    LOCK,
    ['(*containerLogManager).rotateLogs', '(*containerLogManager).Clean'],
  ]),
  row(27, 'load', 'a big log is compressed', [
    ['compress/gzip*', 'compress/flate*'],
    ['(*containerLogManager).compressLog'],
  ]),
  row(28, 'runtime', 'the runtime is slow to remove images or to measure them', [
    cri('RemoveImage', 'ImageFsInfo'),
    ['(*realImageGCManager).GarbageCollect'],
  ]),
  row(29, 'storage', 'the statistics for evictions take too long', [
    ['cadvisor*', '.ListPodStats*', '.ListPodCPUAndMemoryStats'],
    ['(*summaryProviderImpl).Get*'],
    ['(*managerImpl).synchronize'],
  ]),
  row(30, 'runtime', 'the runtime does not report its status', [
    cri('Status'),
    [`${K}updateRuntimeUp`],
  ]),
  rowOf(31, 'runtime', 'the runtime (docker) does not answer while the node status is made', [
    pattern([['cancellable.Do'], [`${K}syncNodeStatus`, `${K}updateNodeStatus`]], { enough: 1 }),
    pattern([cri('Version'), [`${K}syncNodeStatus`, `${K}updateNodeStatus`]]),
  ]),
  rowOf(32, 'exec', 'commands in containers are slow or were never ended', [
    pattern([cri('ExecSync'), ['probe/exec*', 'prober.*']], { countMin: 20 }),
  ]),
  rowOf(33, 'api-server', 'a connection to the API server is half open', [
    pattern([
      ['http2.(*Transport).*', 'http2.(*ClientConn).*'],
      ['lease*', '.ensureLease'],
    ]),
    pattern([['http2.(*ClientConn).RoundTrip', 'http2.(*Transport).RoundTrip*']], { countMin: 20 }),
  ]),
  row(34, 'normal', 'the watcher of plugins waits', [['inotify*', 'fsnotify*'], PLUGINS]),
  row(35, 'storage', "the filesystem of the kubelet's own directory hangs (user namespaces)", [
    FILE_CALLS,
    ['(*UsernsManager).CleanupOrphanedPodUsernsAllocations'],
  ]),
  row(
    36,
    'storage',
    "the filesystem of the kubelet's own directory is slow or full (checkpoints)",
    [FILE_CALLS, ['.RemoveOrphanedPods']],
  ),
  row(37, 'normal', 'the stream of container events is open', [cri('GetContainerEvents')]),
  row(38, 'runtime-volume', 'the runtime hangs on a dead volume while it makes a container', [
    FILE_CALLS,
    ['.WithMounts', '.generateSpec*', '.buildContainerSpec', '.buildLinuxSpec'],
    ['.CreateContainer'],
  ]),
];
