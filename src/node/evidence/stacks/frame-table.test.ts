import { describe, expect, test } from 'vitest';
import {
  countedDump,
  eachDump,
  journalOf,
  type SyntheticGoroutine,
} from '../../../../test/synthetic-dump.ts';
import { parseGoroutineDump } from '../../../lib/go/dump-parser.ts';
import { FRAME_TABLE } from './frame-table.ts';
import { matchRows } from './stack-match.ts';

const K = 'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).';
const VENDOR = 'k8s.io/kubernetes/vendor/';
const LOOP = [`${K}syncLoopIteration`, `${K}syncLoop`, `${K}Run`];
const CLEANUPS = [`${K}HandlePodCleanups`, ...LOOP];
const STAT = [
  'syscall.Syscall6',
  'syscall.fstatat',
  'syscall.Stat',
  'os.statNolog.func1',
  'os.Stat',
];
const GRPC = [
  'google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader',
  'google.golang.org/grpc.(*csAttempt).recvMsg',
  'google.golang.org/grpc.(*clientStream).RecvMsg',
  'google.golang.org/grpc.(*ClientConn).Invoke',
];
const CRI = 'k8s.io/cri-client/pkg.(*remoteRuntimeService).';
const RUNTIME = 'k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).';
const LOCK = ['sync.runtime_SemacquireMutex', 'sync.(*Mutex).lockSlow', 'sync.(*Mutex).Lock'];
const WAIT = ['os.(*Process).Wait', 'os/exec.(*Cmd).Wait', 'os/exec.(*Cmd).CombinedOutput'];
const PLEG = 'k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).';
const OPERATIONS = 'k8s.io/kubernetes/pkg/volume/util/operationexecutor.(*operationGenerator).';
const PENDING =
  'k8s.io/kubernetes/pkg/util/goroutinemap/nestedpendingoperations.(*nestedPendingOperations).Run.func1';
const ORPHANS = [`${K}cleanupOrphanedPodDirs`, ...CLEANUPS];
const LOGS = 'k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).';
const HTTP2 = 'golang.org/x/net/http2.(*ClientConn).RoundTrip';

/** One stack for each row, as some version of the kubelet prints it. */
const STACKS: Readonly<Record<number, SyntheticGoroutine>> = {
  1: {
    functions: [
      ...STAT,
      `${VENDOR}k8s.io/mount-utils.(*Mounter).IsLikelyNotMountPoint`,
      `${K}getMountedVolumePathListFromDisk`,
      `${K}podVolumesExist`,
      ...ORPHANS,
    ],
    state: 'syscall',
  },
  2: {
    functions: [
      ...STAT,
      'k8s.io/mount-utils.PathExists',
      `${K}getPodVolumePathListFromDisk`,
      ...ORPHANS,
    ],
    state: 'syscall',
  },
  3: {
    functions: ['syscall.rmdir', 'syscall.Rmdir', `${K}removeOrphanedPodVolumeDirs`, ...ORPHANS],
  },
  4: {
    functions: [
      'syscall.unlinkat',
      'os.Remove',
      'k8s.io/kubernetes/pkg/util/removeall.RemoveAllOneFilesystemCommon',
      'k8s.io/kubernetes/pkg/util/removeall.RemoveAllOneFilesystem',
      ...ORPHANS,
    ],
  },
  5: {
    functions: [
      'syscall.ReadDirent',
      'os.(*File).readdir',
      'os.ReadDir',
      `${K}listPodsFromDisk`,
      ...ORPHANS,
    ],
  },
  6: {
    functions: [
      ...GRPC,
      'k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1.(*devicePluginClient).Allocate',
      'k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.(*endpointImpl).allocate',
      'k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.(*ManagerImpl).Allocate',
      'k8s.io/kubernetes/pkg/kubelet/cm/topologymanager.(*scope).allocateAlignedResources',
      `${K}canAdmitPod`,
      `${K}HandlePodAdditions`,
      ...LOOP,
    ],
  },
  7: {
    functions: [
      'sync.runtime_SemacquireRWMutexR',
      'sync.(*RWMutex).RLock',
      `${VENDOR}github.com/google/cadvisor/manager.(*manager).getContainerData`,
      `${VENDOR}github.com/google/cadvisor/manager.(*manager).GetContainerInfoV2`,
      'k8s.io/kubernetes/pkg/kubelet/stats.(*Provider).GetCgroupStats',
      `${K}HandlePodAdditions`,
      ...LOOP,
    ],
  },
  8: {
    functions: [
      'github.com/coreos/go-systemd/v22/dbus.(*Conn).StopUnitContext',
      'github.com/opencontainers/runc/libcontainer/cgroups/systemd.stopUnit.func1',
      'k8s.io/kubernetes/pkg/kubelet/cm.(*cgroupManagerImpl).Destroy',
      'k8s.io/kubernetes/pkg/kubelet/cm.(*podContainerManagerImpl).Destroy',
      `${K}cleanupOrphanedPodCgroups.gowrap1`,
    ],
    state: 'chan receive',
  },
  9: {
    functions: [
      ...GRPC,
      `${CRI}ListPodSandbox`,
      `${RUNTIME}getKubeletSandboxes`,
      `${RUNTIME}GetPods`,
      'k8s.io/kubernetes/pkg/kubelet/container.(*runtimeCache).updateCache',
      ...CLEANUPS,
    ],
  },
  10: {
    functions: [
      'golang.org/x/net/http2.(*ClientConn).RoundTrip',
      'net/http.(*Client).do',
      'k8s.io/client-go/rest.(*Request).Do',
      'k8s.io/kubernetes/pkg/kubelet/pod.(*basicMirrorClient).DeleteMirrorPod',
      ...CLEANUPS,
    ],
  },
  11: { functions: ['time.Sleep', `${K}syncLoop`, `${K}Run`], state: 'sleep' },
  12: {
    functions: [`${PLEG}Relist`, 'k8s.io/apimachinery/pkg/util/wait.BackoffUntil'],
    state: 'chan send',
  },
  13: {
    functions: [
      ...GRPC,
      `${CRI}ContainerStatus`,
      `${RUNTIME}getPodContainerStatuses`,
      `${RUNTIME}GetPodStatus`,
      `${PLEG}updateCache`,
      `${PLEG}Relist`,
    ],
  },
  14: {
    functions: [
      ...GRPC,
      'k8s.io/kubernetes/pkg/kubelet/cri/remote.(*RemoteRuntimeService).ListContainers',
      `${RUNTIME}GetPods`,
      `${PLEG}relist`,
    ],
  },
  15: {
    functions: [...LOCK, 'k8s.io/kubernetes/pkg/kubelet.(*podWorkers).UpdatePod', ...CLEANUPS],
  },
  16: {
    functions: [
      'sync.runtime_SemacquireMutex',
      'internal/sync.(*Mutex).lockSlow',
      'sync.(*RWMutex).Lock',
      'k8s.io/kubernetes/pkg/kubelet/status.(*manager).SetPodStatus',
      `${K}HandlePodReconcile`,
      ...LOOP,
    ],
  },
  17: {
    functions: [
      'k8s.io/apimachinery/pkg/util/wait.PollUntilContextTimeout',
      'k8s.io/kubernetes/pkg/kubelet/volumemanager.(*volumeManager).WaitForAttachAndMount',
      `${K}SyncPod`,
    ],
  },
  18: {
    functions: [
      ...WAIT,
      'k8s.io/mount-utils.(*Mounter).Unmount',
      'k8s.io/mount-utils.CleanupMountPoint',
      `${OPERATIONS}GenerateUnmountVolumeFunc.func1`,
    ],
  },
  19: {
    functions: [
      ...WAIT,
      'k8s.io/mount-utils.(*Mounter).doMount',
      `${OPERATIONS}GenerateMountVolumeFunc.func1`,
    ],
  },
  20: {
    functions: [...GRPC, 'k8s.io/kubernetes/pkg/volume/csi.(*csiDriverClient).NodeUnpublishVolume'],
  },
  21: {
    functions: [
      'syscall.Syscall',
      'golang.org/x/sys/unix.Statfs',
      'k8s.io/kubernetes/pkg/volume/util/fs.Info',
      'k8s.io/kubernetes/pkg/volume.(*metricsStatFS).GetMetrics',
      'k8s.io/kubernetes/pkg/kubelet/server/stats.(*volumeStatCalculator).calcAndStoreStats',
    ],
  },
  22: {
    functions: [
      ...WAIT,
      'k8s.io/kubernetes/pkg/volume/util/fs.DiskUsage',
      'k8s.io/kubernetes/pkg/volume.(*metricsDu).GetMetrics',
    ],
  },
  23: {
    functions: [
      ...STAT,
      'k8s.io/kubernetes/pkg/kubelet/volumemanager/reconciler.getVolumesFromPodDir',
      'k8s.io/kubernetes/pkg/kubelet/volumemanager/reconciler.(*reconciler).syncStates',
    ],
  },
  24: { functions: [`${OPERATIONS}GenerateUnmountVolumeFunc.func1`, PENDING], count: 120 },
  25: {
    functions: [
      'syscall.Unlink',
      'os.Remove',
      `${LOGS}Clean`,
      `${RUNTIME}removeContainerLog`,
      'k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*containerGC).removeOldestN',
    ],
  },
  26: { functions: [...LOCK, `${LOGS}rotateLogs`, `${LOGS}Start.func1`] },
  27: {
    functions: [
      'compress/flate.(*compressor).deflate',
      'compress/gzip.(*Writer).Write',
      `${LOGS}compressLog`,
    ],
  },
  28: {
    functions: [
      ...GRPC,
      'k8s.io/cri-client/pkg.(*remoteImageService).RemoveImage',
      'k8s.io/kubernetes/pkg/kubelet/images.(*realImageGCManager).GarbageCollect',
    ],
  },
  29: {
    functions: [
      'github.com/google/cadvisor/manager.(*manager).GetContainerInfoV2',
      'k8s.io/kubernetes/pkg/kubelet/stats.(*criStatsProvider).ListPodStats',
      'k8s.io/kubernetes/pkg/kubelet/server/stats.(*summaryProviderImpl).Get',
      'k8s.io/kubernetes/pkg/kubelet/eviction.(*managerImpl).synchronize',
    ],
  },
  30: { functions: [...GRPC, `${CRI}Status`, `${K}updateRuntimeUp`] },
  31: {
    functions: [
      `${VENDOR}github.com/docker/engine-api/client/transport/cancellable.Do`,
      `${VENDOR}github.com/docker/engine-api/client.(*Client).ServerVersion`,
      `${K}setNodeStatusVersionInfo`,
      `${K}syncNodeStatus`,
    ],
  },
  32: {
    functions: [...GRPC, `${CRI}ExecSync`, 'k8s.io/kubernetes/pkg/probe/exec.execProber.Probe'],
    count: 40,
  },
  33: {
    functions: [HTTP2, 'k8s.io/component-helpers/apimachinery/lease.(*controller).ensureLease'],
  },
  34: {
    functions: [
      'github.com/fsnotify/fsnotify.(*Watcher).readEvents',
      'k8s.io/kubernetes/pkg/kubelet/pluginmanager/pluginwatcher.(*Watcher).Start.func1',
    ],
  },
  35: {
    functions: [
      'syscall.openat',
      'os.ReadFile',
      'k8s.io/kubernetes/pkg/kubelet/userns.(*UsernsManager).CleanupOrphanedPodUsernsAllocations',
      ...CLEANUPS,
    ],
  },
  36: {
    functions: [
      'syscall.Fsync',
      'os.(*File).Sync',
      'k8s.io/kubernetes/pkg/util/filesystem.(*DefaultFs).writeFile',
      'k8s.io/kubernetes/pkg/kubelet/allocation.(*manager).RemoveOrphanedPods',
      ...CLEANUPS,
    ],
  },
  37: { functions: [...GRPC, `${CRI}GetContainerEvents`, `${K}Run`] },
  38: {
    functions: [
      ...STAT,
      'github.com/containerd/containerd/pkg/cri/opts.WithMounts.func1',
      'github.com/containerd/containerd/pkg/cri/server.(*criService).CreateContainer',
    ],
  },
};

const normal = FRAME_TABLE.filter(({ kind }) => kind === 'normal').map(({ number }) => number);

describe('the frame table', () => {
  test('has every row once, in order', () => {
    expect(FRAME_TABLE.map(({ number }) => number)).toEqual(
      Array.from({ length: 38 }, (_, index) => index + 1),
    );
    expect(normal).toEqual([34, 37]);
  });

  test.each(FRAME_TABLE)('row $number is known in every form: $cause', ({ number, kind }) => {
    const fixture = STACKS[number];
    if (!fixture) throw new Error(`no stack for row ${number}`);
    const each = eachDump([{ ...fixture, minutes: 7 }]);
    const forms = [each, countedDump([fixture]), journalOf(each), each.replaceAll('\n', '\r\n')];
    for (const form of forms) {
      const dump = parseGoroutineDump(form);
      expect(dump.isCut, form.slice(0, 200)).toBe(false);
      const seen = matchRows(dump).map(({ row }) => row.number);
      expect(seen).toEqual(kind === 'normal' ? [] : [number]);
    }
  });

  test.each([
    [
      8,
      [
        'github.com/godbus/dbus/v5.(*Call).store',
        'github.com/opencontainers/cgroups/systemd.stopUnit',
        'k8s.io/kubernetes/pkg/kubelet/cm.(*cgroupCommon).Destroy',
      ],
    ],
    [
      18,
      [...WAIT, 'k8s.io/mount-utils.tryUnmount', `${OPERATIONS}GenerateUnmountDeviceFunc.func1`],
    ],
    [
      36,
      [
        'os.(*File).Sync',
        'k8s.io/kubernetes/pkg/kubelet/allocation/state.(*stateCheckpoint).RemoveOrphanedPods',
        ...CLEANUPS,
      ],
    ],
    [31, [...GRPC, `${CRI}Version`, `${K}updateNodeStatus`]],
    [33, [HTTP2, 'k8s.io/client-go/rest.(*Request).Do'], 30],
  ])('row %i matches the function names of other versions', (number, functions, count = 1) => {
    const dump = parseGoroutineDump(eachDump([{ functions, minutes: 5, count }]));
    expect(matchRows(dump).map(({ row }) => row.number)).toEqual([number]);
  });

  test('a wait of less than a minute is normal', () => {
    const alone = Object.values(STACKS).filter(({ count = 1 }) => count === 1);
    expect(matchRows(parseGoroutineDump(eachDump(alone)))).toEqual([]);
  });

  test('a few goroutines do not match a row that needs many', () => {
    const few = [24, 32].map((row) => ({
      ...(STACKS[row] as SyntheticGoroutine),
      count: 3,
      minutes: 0,
    }));
    expect(matchRows(parseGoroutineDump(eachDump(few)))).toEqual([]);
  });

  test('distinguishes all rows in one dump', () => {
    const all = Object.values(STACKS).map((fixture) => ({ ...fixture, minutes: 9 }));
    const seen = matchRows(parseGoroutineDump(eachDump(all))).map(({ row }) => row.number);
    expect(seen).toEqual(
      FRAME_TABLE.map(({ number }) => number).filter((n) => !normal.includes(n)),
    );
  });
});
