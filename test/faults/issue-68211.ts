import type { NodeMaker } from '../synthetic-node.ts';
import { syntheticWorker } from '../synthetic-worker.ts';

const UID = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const POD = `/var/lib/kubelet/pods/${UID}`;
const CONTAINER = '1ca1a8b5ea3d05b920cb730751f2917a7fc6322759f43779f9bcfbf3e4d08eba';
const OVERLAY = '/var/lib/docker/overlay';

/** A node that people diagnosed manually in 2021: its mount table and its pod, as they wrote them down. */
const MOUNTS = [
  '17 22 0:17 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw',
  '36 26 0:32 / /sys/fs/cgroup/perf_event rw,nosuid,nodev,noexec,relatime shared:20 - cgroup cgroup rw,perf_event',
  '37 26 0:33 / /sys/fs/cgroup/pids rw,nosuid,nodev,noexec,relatime shared:21 - cgroup cgroup rw,pids',
  `216 22 254:1 ${POD}/volumes/kubernetes.io~configmap/logrotateconf/..2021_06_02_06_01_21.244319292/nginx.log//deleted ${POD}/volume-subpaths/logrotateconf/nginx-ingress-controller/1 rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro,data=ordered`,
  `201 70 0:76 / ${OVERLAY}/2bfc1017017a6707aa66bb47a78f25aae5cd54ee50d0a06f33608349267158e2/merged rw,relatime shared:108 - overlay overlay rw,lowerdir=${OVERLAY}/b6636b86514105ef1d73c7b2d63a7be21e835214e7cbe1de0ccbf7d4a6b3724e/root,upperdir=${OVERLAY}/2bfc1017017a6707aa66bb47a78f25aae5cd54ee50d0a06f33608349267158e2/upper,workdir=${OVERLAY}/2bfc1017017a6707aa66bb47a78f25aae5cd54ee50d0a06f33608349267158e2/work`,
];

const MESSAGE =
  'OCI runtime create failed: container_linux.go:370: starting container process caused: ' +
  `process_linux.go:459: container init caused: rootfs_linux.go:59: mounting "${POD}/volume-subpaths/logrotateconf/nginx-ingress-controller/1" ` +
  `to rootfs at "${OVERLAY}/6819afb9daf385c691d2a8c39b7be4c1b12ed355837ebf24b1ab692aae996dac/merged/etc/logrotate.d/nginx.log" ` +
  'caused: no such file or directory: unknown';

const PODS = [
  {
    metadata: { name: 'ingress-nginx-ttbms', namespace: 'kube-system', uid: UID },
    spec: {
      restartPolicy: 'Always',
      nodeName: 'my-node',
      initContainers: [{ name: 'adddirperm' }],
      containers: [{ name: 'nginx-ingress-controller' }],
      volumes: [
        { name: 'logdir', hostPath: { path: '/data/log/nginx_ingress_controller', type: '' } },
        { name: 'logrotateconf', configMap: { name: 'nginx-ingress-logrotate' } },
      ],
    },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'nginx-ingress-controller',
          restartCount: 8,
          state: {
            waiting: {
              reason: 'CrashLoopBackOff',
              message: `back-off 40s restarting failed container=nginx-ingress-controller pod=ingress-nginx-ttbms_kube-system(${UID})`,
            },
          },
          lastState: {
            terminated: {
              exitCode: 128,
              reason: 'ContainerCannotRun',
              message: MESSAGE,
              containerID: `docker://${CONTAINER}`,
            },
          },
        },
      ],
    },
  },
];

/** The version of that kubelet was not written down, so it is not known here either. */
export function seedNode(): NodeMaker {
  const maker = syntheticWorker({
    version: null,
    otherMounts: [],
    mounts: MOUNTS,
    runtimeName: 'docker',
    socket: '/var/run/dockershim.sock',
    sandboxes: [{ podUid: UID }],
    pods: PODS,
    containers: [
      {
        id: CONTAINER,
        name: 'nginx-ingress-controller',
        podUid: UID,
        podName: 'ingress-nginx-ttbms',
        podNamespace: 'kube-system',
        // dockershim lists a container whose start failed as created, and its status has the rest.
        listedState: 'CONTAINER_CREATED',
        state: 'CONTAINER_EXITED',
        attempt: 8,
        exitCode: 128,
        reason: 'ContainerCannotRun',
        message: MESSAGE,
      },
    ],
  });
  maker.clock = new Date('2021-06-02T07:28:55Z');
  return maker.file('/proc/sys/kernel/hostname', 'my-node\n');
}
