/** Texts as people send them, each with what a person who knows the faults would say of it. */
export interface LabelledText {
  readonly what: string;
  readonly text: string;
  /**
   * What this text alone shows, or the beginning of it; a text without one is a look-alike, or shows
   * nothing.
   */
  readonly label?: { readonly fault: string; readonly verdict: Shown; readonly cut?: Shown };
}

type Shown = 'found' | 'suspected';

const A = 'container-without-log-path';
const B = 'stale-subpath-mount';
const C = 'dead-volume-mount';
const D = 'leftover-volume-directory';
const M = 'orphaned-volume-metadata';
const found = (fault: string) => ({ fault, verdict: 'found' }) as const;
const suspected = (fault: string) => ({ fault, verdict: 'suspected' }) as const;

const UID = '5f1e7c1a-90d2-4b1b-8a57-6b1f2f0c7d3e';
const POD = `/var/lib/kubelet/pods/${UID}`;
const ID = '9c1f0be2'.repeat(8);
const GO = '\t/workspace/src/k8s.io/kubernetes/pkg/kubelet';
const lines = (...all: readonly string[]) => `${all.join('\n')}\n`;

/** Every two seconds of a kubelet that works, for as many hours. */
const healthyHours = (hours: number) =>
  Array.from({ length: hours * 60 }, (_, minute) => {
    const time = new Date(Date.UTC(2026, 4, 1, 4, minute)).toISOString().slice(11, 19);
    const day = String(1 + Math.floor((4 * 60 + minute) / (24 * 60))).padStart(2, '0');
    return `I05${day} ${time}.000000    1234 kubelet.go:2300] "SyncLoop (housekeeping)"`;
  });

const WITHOUT_LOG_PATH: readonly LabelledText[] = [
  {
    what: 'a collection that deletes a relative name',
    label: found(A),
    text: lines(
      `E1102 09:14:03.120553  3321 kuberuntime_gc.go:146] "Failed to remove container" err="failed to remove container \\"${ID}\\" log \\"srv\\": remove srv: device or resource busy" containerID="${ID}"`,
    ),
  },
  {
    what: 'the same words in a chat',
    label: suspected(A),
    text: `our edge node says failed to remove container "${ID}" log "srv": remove srv: device or resource busy, known?`,
  },
  {
    what: 'the stack of a deletion',
    label: found(A),
    text: lines(
      'Attaching 4 probes...',
      "bin deleted by command 'edgecore' with pid 4711",
      '',
      '        48a9db syscall.Syscall.abi0+27 (/usr/local/bin/edgecore)',
      '        4b7e1c os.Remove+124 (/usr/local/bin/edgecore)',
      '        1f1008e k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean+974 (/usr/local/bin/edgecore)',
      '        1d2f3aa k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).removeContainerLog+458 (/usr/local/bin/edgecore)',
    ),
  },
  {
    what: 'a runtime without a log path',
    label: found(A),
    text: `{"status":{"id":"${ID}","state":"CONTAINER_EXITED","logPath":"","metadata":{"name":"mqtt"}}}\n`,
  },
  {
    what: 'a runtime with a log path',
    text: `{"status":{"id":"${ID}","state":"CONTAINER_EXITED","logPath":"/var/log/pods/a/0.log","metadata":{"name":"mqtt"}}}\n`,
  },
  {
    what: 'a containerd that will write no log',
    label: suspected(A),
    text: lines(
      'time="2026-11-02T09:12:12.600016015Z" level=info msg="Logging will be disabled due to empty log paths for sandbox (\\"\\") or container (\\"\\")"',
    ),
  },
  {
    what: 'a log whose absolute path is gone',
    text: lines(
      `E1102 09:14:03.120553  3321 kuberuntime_gc.go:146] "Failed to remove container" err="failed to remove container \\"${ID}\\" log \\"/var/log/pods/x/0.log\\": remove /var/log/pods/x/0.log: read-only file system" containerID="${ID}"`,
    ),
  },
  {
    what: 'a name that is reserved',
    text: lines(
      `Nov 02 17:08:47 cp-1 kubelet[5021]: E1102 17:08:47.303868    5021 remote_runtime.go:319] "CreateContainer in sandbox from runtime service failed" err="rpc error: code = Unknown desc = failed to reserve container name \\"a_b_c_1\\": name \\"a_b_c_1\\" is reserved for \\"${ID}\\"" podSandboxID="77"`,
    ),
  },
];

const refusal = `mounting \\"${POD}/volume-subpaths/conf/app/2\\" to rootfs \\"/run/x\\" at \\"/etc/app.ini\\" caused \\"no such file or directory\\"`;

const STALE: readonly LabelledText[] = [
  {
    what: 'an event of a refused start',
    label: suspected(B),
    text: lines(`  Warning  Failed   5s   kubelet, worker-3  Error: failed to start: ${refusal}`),
  },
  {
    what: 'the message of a status, folded',
    label: suspected(B),
    text: lines(
      "        message: 'OCI runtime create failed: container init caused",
      `          mounting "${POD}/volume-subpaths/conf/app/0"`,
      '          to rootfs "/run/x" at "/etc/app.ini"',
      "          caused no such file or directory: unknown'",
    ),
  },
  {
    what: 'the end of a container',
    label: suspected(B),
    text: `${JSON.stringify({ terminated: { exitCode: 128, reason: 'ContainerCannotRun', message: refusal.replaceAll('\\"', '"') } })}\n`,
  },
  {
    what: 'a mount that lost its source',
    label: suspected(B),
    text: lines(
      '22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
      `65 22 254:1 ${POD}/volumes/kubernetes.io~configmap/conf/..2026_05_01_06_01_21.244319292/app.ini//deleted ${POD}/volume-subpaths/conf/app/0 rw,relatime shared:1 - ext4 /dev/vda1 rw`,
    ),
  },
  {
    what: 'mounts that have theirs',
    text: lines(
      '22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
      `65 22 254:1 ${POD}/volumes/kubernetes.io~configmap/conf/..2026_05_01_06_01_21.244319292/app.ini ${POD}/volume-subpaths/conf/app/0 rw,relatime shared:1 - ext4 /dev/vda1 rw`,
      '66 22 0:40 /gone//deleted /srv/elsewhere rw,relatime - tmpfs tmpfs rw',
    ),
  },
  {
    what: 'a subPath on a server that forgot it',
    text: `Error: "error cleaning subPath mounts for volume \\"web\\": error reading ${POD}/volume-subpaths/web/app: lstat ${POD}/volume-subpaths/web/app/2: stale NFS file handle"\n`,
  },
];

const BLOCKED = lines(
  'goroutine 233 [syscall, 14 minutes]:',
  'syscall.Syscall6(0x106, 0xffffffffffffff9c, 0xc000b1a2a0, 0xc000d3c9b8)',
  '\t/usr/local/go/src/syscall/asm_linux_amd64.s:41 +0x5',
  'os.Lstat(0xc000b1a240, 0x5c)',
  '\t/usr/local/go/src/os/stat.go:22 +0x4d',
  'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).cleanupOrphanedPodDirs(0xc000a2e000)',
  `${GO}/kubelet_volumes.go:139 +0x4f2`,
  'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).HandlePodCleanups(0xc000a2e000)',
  `${GO}/kubelet_pods.go:1115 +0x6a5`,
  'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoopIteration(0xc000a2e000)',
  `${GO}/kubelet.go:2018 +0x8ee`,
  'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoop(0xc000a2e000)',
  `${GO}/kubelet.go:1884 +0x3d2`,
  'created by k8s.io/kubernetes/cmd/kubelet/app.startKubelet',
  '\t/workspace/src/k8s.io/kubernetes/cmd/kubelet/app/server.go:1192 +0x5e',
);

const DEAD: readonly LabelledText[] = [
  { what: 'a sync loop that waits among orphans', label: found(C), text: BLOCKED },
  {
    what: 'silence after housekeeping, and a failing health check',
    label: found(C),
    text: lines(
      '$ grep SyncLoop kubelet.INFO',
      'I0330 15:58:25.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)',
      'I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)',
      '',
      '$ curl http://127.0.0.1:10255/healthz',
      '[+]ping ok',
      '[-]syncloop failed: reason withheld',
      'healthz check failed',
    ),
  },
  {
    what: 'a health check that failed long ago, in a log that goes on',
    text: lines(
      'I0501 03:00:00.000000    1234 kubelet.go:2300] "SyncLoop (housekeeping)"',
      'I0501 03:00:30.000000    1234 log.go:184] syncloop check failed: healthz',
      '[-]syncloop failed: sync Loop took longer than expected',
      ...healthyHours(16),
    ),
  },
  {
    what: 'a task that waits for a filesystem',
    label: suspected(C),
    text: lines(
      'State:\tD (disk sleep)',
      'wchan: rpc_wait_bit_killable',
      'syscall: 262 0xffffff9c',
    ),
  },
  {
    what: 'a server that does not answer, in the log of the kernel',
    text: lines('[11859608.510084] nfs: server 10.36.3.5 not responding, still trying'),
  },
  {
    what: 'a mount whose server is gone, which answers',
    text: lines(
      `kubelet.go:1503] Failed cleaning up orphaned pod directories: lstat ${POD}/volumes/kubernetes.io~glusterfs/s: transport endpoint is not connected`,
    ),
  },
  {
    what: 'a loop that waits for a device plugin',
    text: lines(
      'goroutine 512 [select, 31 minutes]:',
      'google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader(0xc001226ea0)',
      '\t/workspace/vendor/google.golang.org/grpc/internal/transport/transport.go:324 +0x7c',
      'k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.(*endpointImpl).allocate(0xc00198d4f0)',
      `${GO}/cm/devicemanager/manager.go:343 +0x2df`,
      'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).HandlePodAdditions(0xc000a2e000)',
      `${GO}/kubelet.go:2100 +0x2df`,
      'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoopIteration(0xc000a2e000)',
      `${GO}/kubelet.go:2018 +0x8ee`,
      'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoop(0xc000a2e000)',
      `${GO}/kubelet.go:1884 +0x3d2`,
      'created by k8s.io/kubernetes/cmd/kubelet/app.startKubelet',
      '\t/workspace/src/k8s.io/kubernetes/cmd/kubelet/app/server.go:1192 +0x5e',
    ),
  },
  {
    what: 'a list of events that nobody takes',
    text: lines(
      'goroutine 386 [chan send, 1140 minutes]:',
      'k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist(0xc42069ea20)',
      `${GO}/pleg/generic.go:261 +0x74e`,
    ),
  },
  {
    what: 'goroutines that are idle for long, in a journal',
    text: lines(
      'Jun 22 21:24:54 worker sudo[9001]: goroutine 98 [chan receive, 4695 minutes]:',
      'Jun 22 21:24:54 worker sudo[9001]: github.com/godbus/dbus.(*Conn).outWorker(0xc2082c99e0)',
      'Jun 22 21:24:54 worker sudo[9001]: /go/src/github.com/godbus/dbus/conn.go:385 +0x58',
    ),
  },
  {
    what: 'a healthy dump, counted',
    text: lines(
      'goroutine profile: total 133',
      '1 @ 0x8cfcc6 0x8cfa6d',
      '#\t0x8cfcc6\truntime/pprof.writeRuntimeProfile+0xd6\t/usr/lib/golang/src/runtime/pprof/pprof.go:540',
      '#\t0x8cfa6d\truntime/pprof.writeGoroutine+0x9d\t/usr/lib/golang/src/runtime/pprof/pprof.go:502',
    ),
  },
  {
    what: 'the dump of another program',
    text: lines(
      'goroutine 1 [syscall, 600 minutes]:',
      'os.Stat(0xc000)',
      '\t/usr/local/go/src/os/stat.go:13 +0x4d',
      'main.syncLoop()',
      '\t/src/main.go:28 +0x1d',
      'main.main()',
      '\t/src/main.go:8 +0x1d',
    ),
  },
];

const rename = (name: string) =>
  `E0501 03:00:00.000000    1234 nestedpendingoperations.go:262] Operation for "\\"kubernetes.io/empty-dir/${UID}-v\\"" failed. Error: UnmountVolume.TearDown failed for volume "v" (UniqueName: "kubernetes.io/empty-dir/${UID}-v") pod "${UID}" (UID: "${UID}") with: rename ${POD}/volumes/kubernetes.io~empty-dir/${name} ${POD}/volumes/kubernetes.io~empty-dir/${name}.deleting~096627888`;

const LEFTOVER: readonly LabelledText[] = [
  {
    what: 'nested names',
    label: found(D),
    text: lines(`${rename('v.deleting~355603580')}: file exists`),
  },
  {
    what: 'a directory that is busy',
    label: found(D),
    text: lines(`${rename('wrapped_v')}: device or resource busy`),
  },
  {
    what: 'one failure, and hours of log without another',
    label: { ...suspected(D), cut: 'found' },
    text: lines(`${rename('v')}: file exists`, ...healthyHours(16)),
  },
  {
    what: 'names of directories',
    label: found(D),
    text: lines(
      ...['859156558', '859156559'].map(
        (digits) => `${POD}/volumes/example.io~disk/pvc-1.deleting~${digits}`,
      ),
    ),
  },
  {
    what: 'a listing under its command',
    label: suspected(D),
    text: lines(
      `# ls -la ${POD}/volumes/kubernetes.io~empty-dir`,
      'total 8',
      'drwxr-xr-x 2 root root 4096 May  1 03:00 v',
      'drwxr-xr-x 2 root root 4096 May  1 03:00 v.deleting~096627888',
    ),
  },
  {
    what: 'a listing of nowhere',
    label: suspected(D),
    text: lines('total 8', 'drwxr-xr-x 2 root root 4096 May  1 03:00 v.deleting~096627888'),
  },
  {
    what: "a user's own names, inside of a volume",
    text: lines(`${POD}/volumes/example.io~disk/pvc-1/user/data.deleting~859156558`),
  },
  {
    what: 'orphans whose volumes are still there',
    label: suspected(M),
    text: lines(
      `E0508 00:36:34.697341     469 kubelet_volumes.go:114] Orphaned pod "${UID}" found, but volume paths are still present on disk.`,
      `E0508 00:36:36.697341     469 kubelet_volumes.go:179] orphaned pod "${UID}" found, but failed to rmdir() volume at path ${POD}/volumes/kubernetes.io~csi/v: directory not empty : There were a total of 1 errors similar to this.`,
    ),
  },
];

const NEIGHBOURS: readonly LabelledText[] = [
  {
    what: 'words of a volume whose file is lost',
    label: suspected(M),
    text: `they wrote: open ${POD}/volumes/kubernetes.io~csi/pvc-1/vol_data.json: no such file or directory\n`,
  },
  {
    what: 'a full queue of the bus',
    text: 'Failed to start transient scope unit: Rejected: destination has a full message queue\n',
  },
  {
    what: 'too many units of systemd',
    text: lines(
      '  Warning  FailedMount  16s (x8 over 80s)  kubelet, 10.1.1.5  MountVolume.SetUp failed for volume "envoy" : mount failed: exit status 1',
      'Output: Failed to start transient scope unit: Argument list too long',
    ),
  },
  {
    what: 'a policy that does not fit its state',
    text: lines(
      'Jan 24 08:07:28 node kubelet[285886]: E0124 08:07:28.168269  285886 cpu_manager.go:203] could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static"',
    ),
  },
  {
    what: 'no cgroup left',
    text: lines(
      '# cat /proc/cgroups |grep memory',
      'memory  11      65535   1',
      'mkdir: cannot create directory: No space left on device',
    ),
  },
  {
    what: 'an ordinary start',
    text: lines(
      'I0501 03:00:00.000000    1234 server.go:417] Version: v1.18.8',
      'I0501 03:00:01.000000    1234 kubelet.go:1820] Starting kubelet main sync loop.',
      'E0501 03:00:01.100000    1234 kubelet.go:1844] skipping pod synchronization - [container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]',
      'I0501 03:00:02.000000    1234 kubelet.go:2012] SyncLoop (ADD, "api"): "web-0_shop"',
    ),
  },
];

export const LABELLED_TEXTS: readonly LabelledText[] = [
  ...WITHOUT_LOG_PATH,
  ...STALE,
  ...DEAD,
  ...LEFTOVER,
  ...NEIGHBOURS,
];
