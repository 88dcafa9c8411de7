import type { OptionalReads } from '../describe-fault.ts';
import { makeLink } from '../synthetic-kubelet.ts';
import { type NodeMaker, type SyntheticNodes, syntheticNodes } from '../synthetic-node.ts';
import {
  KUBELET_ROOT,
  POD_UID,
  type SyntheticContainer,
  type SyntheticWorker,
  syntheticWorker,
} from '../synthetic-worker.ts';
import { seedNode } from './issue-68211.ts';

const POD = `${KUBELET_ROOT}/pods/${POD_UID}`;
const OTHER_POD = 'b9ffd644-af98-11e8-a05e-246e96748774';
const TARGET = `${POD}/volume-subpaths/settings/app/1`;
const PAYLOAD = '..2026_05_28_20_26_40.244319292';

/** One line of a mount table; `root` as the kernel prints it. */
function mount(id: number, root: string, target: string, device = '254:1', type = 'ext4'): string {
  const source = type === 'tmpfs' ? 'tmpfs' : '/dev/vda1';
  return `${id} 27 ${device} ${root} ${target} rw,relatime shared:1 - ${type} ${source} rw`;
}

const configMapFolder = (plugin: string, volume = 'settings') =>
  `${POD}/volumes/kubernetes.io~${plugin}/${volume}`;
const stale = mount(216, `${configMapFolder('configmap')}/${PAYLOAD}/app.conf//deleted`, TARGET);

/** What runc 1.1 says when it cannot mount SRC. */
const runcError = (source: string, text: string) =>
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc ' +
  'create failed: unable to start container process: error during container init: error mounting ' +
  `"${source}" to rootfs at "/etc/app.conf": ${text}: unknown`;
const gone = (source = TARGET) =>
  runcError(
    source,
    `mount ${source}:/etc/app.conf (via /proc/self/fd/6), flags: 0x5000: no such file or directory`,
  );

const running: SyntheticContainer = { id: 'a1', name: 'app', state: 'CONTAINER_RUNNING' };
const refused = (message: string): SyntheticContainer => ({
  id: 'b2',
  name: 'app',
  state: 'CONTAINER_EXITED',
  attempt: 3,
  exitCode: 128,
  reason: 'StartError',
  message,
});
const exited = (exitCode: number): SyntheticContainer => ({
  id: 'b2',
  name: 'app',
  state: 'CONTAINER_EXITED',
  exitCode,
  reason: exitCode === 0 ? 'Completed' : 'Error',
});

function pod(
  change: { readonly metadata?: object; readonly spec?: object; readonly status?: object } = {},
) {
  return {
    metadata: { name: 'web-0', namespace: 'default', uid: POD_UID, ...change.metadata },
    spec: {
      restartPolicy: 'Always',
      containers: [{ name: 'app' }],
      volumes: [{ name: 'settings', configMap: { name: 'web-settings' } }],
      ...change.spec,
    },
    status: { phase: 'Running', ...change.status },
  };
}

/** A tmpfs volume of this plugin, and its stale subPath mount. */
function tmpfsVolume(plugin: string): readonly string[] {
  return [
    mount(90, '/', configMapFolder(plugin), '0:55', 'tmpfs'),
    mount(216, `/${PAYLOAD}/tls.crt//deleted`, TARGET, '0:55', 'tmpfs'),
  ];
}

const waitingWith = (message: string) => ({
  containerStatuses: [
    {
      name: 'app',
      restartCount: 4,
      state: { waiting: { reason: 'CreateContainerError', message } },
    },
  ],
});

const backOff = (container = 'app') =>
  `back-off 20s restarting failed container=${container} pod=web-0_default(${POD_UID})`;
const backOffLine = (time: string, container = 'app') =>
  `2026-05-28T${time}Z worker-7 kubelet[812]: E0528 ${time}.120000     812 pod_workers.go:191] Error syncing ` +
  `pod ${POD_UID} ("web-0_default(${POD_UID})"), skipping: failed to "StartContainer" for ` +
  `"${container}" with CrashLoopBackOff: "${backOff(container)}"`;
const otherLine =
  '2026-05-28T20:27:00Z worker-7 kubelet[812]: I0528 20:27:00.000000     812 kubelet.go:1] idle';

/** Nodes that have the fault, and the two versions of the kubelet that make the difference. */
const faulty: Readonly<Record<string, SyntheticWorker>> = {
  'broken-configmap': { mounts: [stale], containers: [refused(gone())], pods: [pod()] },
  'broken-while-it-is-tried-again': {
    mounts: [stale],
    containers: [
      { ...refused(gone()), createdAt: '10' },
      { id: 'c3', name: 'app', state: 'CONTAINER_CREATED', attempt: 4, createdAt: '20' },
    ],
  },
  'broken-secret': { mounts: tmpfsVolume('secret'), containers: [refused(gone())], pods: [pod()] },
  'broken-secret-mounted-twice': {
    mounts: [...tmpfsVolume('secret'), mount(95, '/', configMapFolder('secret'), '0:77', 'tmpfs')],
    containers: [refused(gone())],
    pods: [pod()],
  },
  'broken-secret-without-credentials': {
    mounts: tmpfsVolume('secret'),
    containers: [refused(gone())],
  },
  'broken-on-a-pre-release': {
    version: 'v1.19.0-rc.1',
    mounts: [stale],
    containers: [refused(gone())],
    pods: [pod()],
  },
  'broken-projected': { mounts: tmpfsVolume('projected'), containers: [refused(gone())] },
  'broken-downward-api': { mounts: tmpfsVolume('downward-api'), containers: [refused(gone())] },
  'broken-on-own-filesystem': {
    mounts: [
      mount(60, '/', KUBELET_ROOT, '7:0'),
      mount(
        216,
        `/pods/${POD_UID}/volumes/kubernetes.io~configmap/settings/${PAYLOAD}/app.conf//deleted`,
        TARGET,
        '7:0',
      ),
    ],
    containers: [refused(gone())],
  },
  'broken-folder': {
    mounts: [mount(216, `${configMapFolder('configmap')}/${PAYLOAD}/conf.d//deleted`, TARGET)],
    containers: [refused(gone())],
  },
  'broken-crio': {
    runtimeName: 'cri-o',
    mounts: [stale],
    containers: [exited(137)],
    pods: [pod({ status: waitingWith(`container create failed: ${gone()}`) })],
  },
  'broken-old-runc': {
    mounts: [stale],
    containers: [
      refused(
        'OCI runtime create failed: container_linux.go:348: starting container process caused ' +
          '"process_linux.go:402: container init caused \\"rootfs_linux.go:58: mounting ' +
          `\\\\\\"${TARGET}\\\\\\" to rootfs \\\\\\"/var/lib/docker/overlay2/c879/merged\\\\\\" at ` +
          '\\\\\\"/var/lib/docker/overlay2/c879/merged/etc/app.conf\\\\\\" caused ' +
          '\\\\\\"no such file or directory\\\\\\"\\"": unknown',
      ),
    ],
  },
  'broken-crun': {
    mounts: [stale],
    containers: [
      refused(`crun: mount \`${TARGET}\` to \`etc/app.conf\`: No such file or directory`),
    ],
  },
  'broken-dockershim': {
    mounts: [stale],
    containers: [
      {
        ...refused(
          'OCI runtime create failed: container_linux.go:370: starting container process caused: ' +
            `process_linux.go:459: container init caused: rootfs_linux.go:59: mounting "${TARGET}" ` +
            'to rootfs at "/etc/app.conf" caused: no such file or directory: unknown',
        ),
        reason: 'ContainerCannotRun',
        listedState: 'CONTAINER_CREATED',
      },
    ],
  },
  'broken-with-selinux': {
    mounts: [stale],
    containers: [
      refused(
        runcError(
          TARGET,
          `mount ${TARGET}:/etc/app.conf (via /proc/self/fd/6), flags: 0x5000, data: ` +
            'context="system_u:object_r:container_file_t:s0:c1,c2": no such file or directory',
        ),
      ),
    ],
  },
  'broken-after-upgrade': {
    version: 'v1.20.2',
    mounts: [stale],
    containers: [refused(gone())],
    pods: [pod()],
  },
  'two-containers': {
    mounts: [
      stale,
      mount(
        217,
        `${configMapFolder('configmap')}/${PAYLOAD}/app.conf//deleted`,
        `${POD}/volume-subpaths/settings/sidecar/0`,
      ),
    ],
    containers: [
      refused(gone()),
      { id: 'd4', name: 'sidecar', state: 'CONTAINER_RUNNING' },
      { id: 'e5', name: 'app', state: 'CONTAINER_EXITED', createdAt: '1779000000000000000' },
    ],
    pods: [pod()],
  },
  'latent-running': { mounts: [stale], containers: [running], pods: [pod()] },
  'latent-running-without-credentials': { mounts: [stale], containers: [running] },
  'active-crashed': {
    mounts: [stale],
    containers: [exited(1)],
    pods: [pod({ status: waitingWith(backOff()) })],
  },
  // A node without a credential for the kubelet.
  'active-crashed-by-the-log': {
    mounts: [stale],
    containers: [exited(1)],
    kubeletLog: [backOffLine('20:26:41'), otherLine],
  },
  'active-second-mount': {
    mounts: [
      stale,
      mount(
        217,
        `${configMapFolder('configmap')}/${PAYLOAD}/other.conf//deleted`,
        `${POD}/volume-subpaths/settings/app/2`,
      ),
    ],
    containers: [refused(gone())],
  },
  'latent-crashed': { mounts: [stale], containers: [exited(1)], pods: [pod()] },
  'latent-waited-for-an-earlier-restart': {
    mounts: [stale],
    containers: [exited(1)],
    kubeletLog: [backOffLine('20:26:39'), otherLine],
  },
  'latent-another-container-waits': {
    mounts: [stale],
    containers: [exited(1)],
    pods: [pod({ status: waitingWith(backOff('other')) })],
    kubeletLog: [backOffLine('20:26:41', 'other'), otherLine],
  },
  'latent-crashed-once': { mounts: [stale], containers: [exited(1)] },
  'latent-other-error': {
    mounts: [stale],
    containers: [refused(runcError(TARGET, 'permission denied'))],
    pods: [pod()],
  },
  'latent-error-of-its-program': {
    mounts: [stale],
    containers: [refused('exec: "app": executable file not found in $PATH')],
    pods: [pod()],
  },
  'latent-completed-and-restarted': {
    mounts: [stale],
    containers: [exited(0)],
    pods: [pod()],
  },
  'latent-failed-and-restarted-on-failure': {
    mounts: [stale],
    containers: [exited(1)],
    pods: [pod({ spec: { restartPolicy: 'OnFailure' } })],
  },
  // The list of a kubelet that has just started is not whole.
  'latent-not-listed-yet': { mounts: [stale], containers: [exited(1)], pods: [] },
  'latent-no-container-yet': {
    mounts: [stale],
    sandboxes: [{ podUid: OTHER_POD, podName: 'db-0' }, {}],
  },
  'latent-sandbox-is-not-listed': { mounts: [stale], containers: [running], sandboxes: [] },
  'latent-created': {
    mounts: [stale],
    containers: [{ id: 'a1', name: 'app', state: 'CONTAINER_CREATED' }],
    pods: [pod()],
  },
  'latent-although-listed-as-finished': {
    mounts: [stale],
    containers: [running],
    pods: [pod({ status: { phase: 'Succeeded' } })],
  },
  'benign-running': { version: 'v1.36.3', mounts: [stale], containers: [running], pods: [pod()] },
  'benign-exited': { version: 'v1.19.0', mounts: [stale], containers: [exited(1)], pods: [pod()] },
};

const healthyMount = mount(216, `${configMapFolder('configmap')}/${PAYLOAD}/app.conf`, TARGET);

/** Nodes that look like it and do not have it. */
const lookAlikes: Readonly<Record<string, SyntheticWorker>> = {
  healthy: { mounts: [healthyMount], containers: [running], pods: [pod()] },
  'healthy-without-credentials': { mounts: [healthyMount], containers: [running] },
  'look-alike-outside-subpaths': {
    mounts: [
      mount(216, '/la/gone//deleted', '/mnt/la/t5'),
      mount(217, '/net//deleted', '/run/netns/cni-1', '0:4', 'nsfs'),
      mount(
        218,
        '/staging//deleted',
        `${KUBELET_ROOT}/plugins/kubernetes.io/csi/pv/p1/globalmount`,
      ),
      mount(219, `${configMapFolder('configmap')}/${PAYLOAD}/app.conf//deleted`, '/etc/app.conf'),
      mount(220, '/x//deleted', `${POD}/volume-subpaths/settings/app/1/deeper`),
    ],
    containers: [running],
    pods: [pod()],
  },
  'look-alike-names': {
    mounts: [
      mount(216, `${configMapFolder('configmap')}/${PAYLOAD}/deleted`, TARGET),
      mount(
        217,
        `${configMapFolder('configmap')}/${PAYLOAD}/x\\040(deleted)`,
        `${POD}/volume-subpaths/settings/app/2`,
      ),
      mount(
        218,
        `${configMapFolder('configmap')}/${PAYLOAD}/x\\134040y`,
        `${POD}/volume-subpaths/settings/app/3`,
      ),
    ],
    containers: [running],
    pods: [pod()],
  },
  'look-alike-terminating': {
    mounts: [stale],
    containers: [refused(gone())],
    pods: [pod({ metadata: { deletionTimestamp: '2026-05-28T20:30:00Z' } })],
  },
  'look-alike-finished-pod': {
    mounts: [stale],
    containers: [exited(0)],
    sandboxes: [{ isReady: false }],
    pods: [pod({ spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } })],
  },
  'look-alike-runs-but-once': {
    mounts: [stale],
    containers: [running],
    pods: [pod({ spec: { restartPolicy: 'Never' } })],
  },
  'look-alike-completed-container': {
    mounts: [stale],
    containers: [exited(0)],
    pods: [pod({ spec: { restartPolicy: 'Never' } })],
  },
  'look-alike-completed-and-restarted-on-failure': {
    mounts: [stale],
    containers: [exited(0)],
    pods: [pod({ spec: { restartPolicy: 'OnFailure' } })],
  },
  'look-alike-completed-init-container': {
    mounts: [stale],
    containers: [exited(0)],
    pods: [pod({ spec: { initContainers: [{ name: 'app' }] } })],
  },
  'look-alike-init-container-without-credentials': {
    mounts: [stale],
    containers: [
      { ...exited(0), finishedAt: '1767322000000000000' },
      { ...running, id: 'c3', name: 'main', createdAt: '1767322001000000000' },
    ],
  },
  'look-alike-forgotten-pod': {
    mounts: [stale],
    containers: [],
    sandboxes: [],
    pods: [],
  },
  // The mount is stale and harmless here; the container fails for another reason.
  'unclear-missing-source': {
    version: 'v1.36.3',
    mounts: [stale],
    containers: [refused(runcError(TARGET, `stat ${TARGET}: no such file or directory`))],
    pods: [pod()],
  },
  'unclear-missing-destination': {
    version: 'v1.36.3',
    mounts: [stale],
    containers: [
      refused(
        runcError(
          TARGET,
          'create mountpoint for /etc/app.conf mount: make mountpoint "/etc/app.conf": openat ' +
            'etc/app.conf: no such file or directory',
        ),
      ),
    ],
    pods: [pod()],
  },
  'unclear-not-a-directory': {
    version: 'v1.36.3',
    mounts: [stale],
    containers: [refused(runcError(TARGET, `mount ${TARGET}:/etc/app.conf: not a directory`))],
    pods: [pod()],
  },
  'look-alike-prefix': {
    // The error speaks of .../10; the stale mount is .../1 of a container that runs.
    version: 'v1.36.3',
    mounts: [stale],
    containers: [running, { ...refused(gone(`${TARGET}0`)), name: 'other' }],
    pods: [pod()],
  },
  // The words are the program's own, left behind at its end.
  'look-alike-words-of-the-program': {
    version: 'v1.36.3',
    mounts: [stale],
    containers: [exited(1)],
    pods: [
      pod({
        status: {
          containerStatuses: [
            {
              name: 'app',
              restartCount: 1,
              state: { terminated: { exitCode: 1, reason: 'Error', message: gone() } },
            },
          ],
        },
      }),
    ],
  },
  'look-alike-empty-dir': {
    mounts: [mount(216, `${configMapFolder('empty-dir')}/cache//deleted`, TARGET)],
    containers: [running],
    pods: [pod()],
  },
  'look-alike-empty-dir-in-memory': {
    mounts: tmpfsVolume('empty-dir'),
    containers: [running],
    pods: [pod()],
  },
  'look-alike-host-path': {
    mounts: [mount(216, '/data/shared/app.conf//deleted', TARGET)],
    containers: [running],
    pods: [pod()],
  },
  'look-alike-claim': {
    mounts: [
      mount(80, '/', `${POD}/volumes/kubernetes.io~csi/pvc-1/mount`, '8:16'),
      mount(216, '/db//deleted', `${POD}/volume-subpaths/pvc-1/app/0`, '8:16'),
    ],
    containers: [running],
    pods: [pod()],
  },
  'look-alike-forged-configmap': {
    mounts: [
      mount(
        216,
        `${configMapFolder('empty-dir')}/pods/${POD_UID}/volumes/kubernetes.io~configmap/settings/${PAYLOAD}/x//deleted`,
        TARGET,
      ),
    ],
    containers: [running],
    pods: [pod()],
  },
};

/** Nodes whose verdict is `unknown`. */
const unclear: Readonly<Record<string, SyntheticWorker>> = {
  'last-copy-empty-dir': {
    mounts: [mount(216, `${configMapFolder('empty-dir')}/cache//deleted`, TARGET)],
    containers: [refused(gone())],
    pods: [pod()],
  },
  'unclear-completed-without-credentials': { mounts: [stale], containers: [exited(0)] },
  'unclear-completed-beside-an-older-container': {
    mounts: [stale],
    containers: [
      { ...exited(0), finishedAt: '1767322000000000000' },
      { ...running, id: 'c3', name: 'main', createdAt: '1767321990000000000' },
    ],
  },
  // With CRI-O its restart may have failed without a container.
  'unclear-completed-beside-a-restarted-container': {
    mounts: [stale],
    containers: [
      { ...exited(0), finishedAt: '1767322000000000000' },
      { ...running, id: 'c3', name: 'main', attempt: 4, createdAt: '1767322001000000000' },
    ],
  },
  'unclear-completed-again': {
    mounts: [stale],
    containers: [
      { ...exited(0), attempt: 1, finishedAt: '1767322000000000000' },
      { ...running, id: 'c3', name: 'main', createdAt: '1767322001000000000' },
    ],
  },
  'unclear-stopped-sandbox': {
    mounts: [stale],
    containers: [exited(1)],
    sandboxes: [{ isReady: false }],
  },
  'unclear-words-of-a-strange-runtime': {
    version: 'v1.36.3',
    mounts: [stale],
    containers: [refused(`youki: ENOENT while binding ${TARGET}`)],
    pods: [pod()],
  },
  'unclear-version-before-the-tables': {
    version: 'v1.9.3',
    mounts: [stale],
    containers: [running],
  },
  'unclear-state-of-the-container': {
    mounts: [stale],
    containers: [{ id: 'a1', name: 'app', state: 'CONTAINER_UNKNOWN' }],
    pods: [pod()],
  },
  'unclear-pod-that-nobody-knows': {
    mounts: [stale],
    sandboxes: [{ podUid: OTHER_POD, podName: 'db-0' }],
  },
  'unclear-version-of-the-kubelet': { version: null, mounts: [stale], containers: [running] },
  'unclear-volume-that-is-not-in-the-table': {
    mounts: tmpfsVolume('secret').slice(1),
    containers: [running],
    pods: [pod()],
  },
  'unclear-prerelease': { version: 'v1.19.0-rc.1', mounts: [stale], containers: [running] },
};

/** The runtime names mounts by the root in the kubelet's settings, which is a link. */
const linkedRoot = (version: string, messageOf: (path: string) => string): NodeMaker => {
  const configured = '/data/kubelet';
  const maker = syntheticWorker({
    version,
    flags: [`--root-dir=${configured}`],
    mounts: [stale],
    containers: [refused(messageOf(`${configured}${TARGET.slice(KUBELET_ROOT.length)}`))],
    pods: [pod()],
  });
  return makeLink(maker, '/proc/812/root', configured, KUBELET_ROOT);
};

const silent = (): NodeMaker => {
  const maker = syntheticWorker({ mounts: [stale], containers: [running] });
  for (const key of [...maker.answers.keys()]) {
    if (key.startsWith('["runtime"')) maker.answers.set(key, { failure: 'timeout' });
  }
  return maker;
};

export function nodes(): SyntheticNodes {
  return {
    ...syntheticNodes({ ...faulty, ...lookAlikes, ...unclear }, syntheticWorker),
    'broken-root-is-a-link': linkedRoot('v1.18.8', gone),
    'unclear-words-of-a-strange-runtime-and-root-is-a-link': linkedRoot(
      'v1.36.3',
      (path) => `youki: ENOENT while binding ${path}`,
    ),
    'runtime-silent': silent(),
    'seed-issue-68211': seedNode(),
  };
}

/** The subPath mount of a container in this state shows its source. */
export function soundNode(state: SyntheticContainer['state']): NodeMaker {
  return syntheticWorker({ mounts: [healthyMount], containers: [{ ...running, state }] });
}

/** What a clear node can do without. */
export const optionalReads: readonly OptionalReads[] = [
  {
    reads: /^kubelet GET .*\/pods$/,
    why: 'no mount is stale, or the version alone makes it harmless',
    on: [
      'benign-exited',
      'benign-running',
      'healthy',
      'healthy-without-credentials',
      'look-alike-claim',
      'look-alike-empty-dir',
      'look-alike-empty-dir-in-memory',
      'look-alike-forged-configmap',
      'look-alike-host-path',
      'look-alike-names',
      'look-alike-outside-subpaths',
      'look-alike-prefix',
      'look-alike-words-of-the-program',
      'recorded-kubelet-1.36.3-benign',
    ],
  },
  {
    reads: /^(log|file|status|names|link) .*(journalctl|\/var\/log\/|\/proc\/812\/fd)/,
    why: 'the log decides only whether a finding is active or latent',
    on: [
      'benign-exited',
      'look-alike-completed-and-restarted-on-failure',
      'look-alike-completed-container',
      'look-alike-completed-init-container',
      'look-alike-finished-pod',
      'look-alike-init-container-without-credentials',
      'look-alike-words-of-the-program',
    ],
  },
  {
    reads: /^kubelet GET .*\/pods$/,
    why: 'the runtime shows that the init container is done',
    on: ['look-alike-init-container-without-credentials'],
  },
  {
    reads: /^file .*\/kubelet\.json$/,
    why: 'the command line names the root directory of the kubelet',
    on: ['recorded-kubelet-1.36.3-benign'],
  },
];
