import type { ProcessEntry } from '../src/node/model/node-reader.ts';
import type { NodeMaker } from './synthetic-node.ts';
import { KUBELET_ROOT, type SyntheticContainer, syntheticWorker } from './synthetic-worker.ts';

/** A node with a pod of a namespace editor and a pod of another namespace: both have the same fault. */

interface PodOfNode {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly sandbox: string;
  readonly container: string;
  readonly pid: number;
  /** In its environment and on its command line. */
  readonly word: string;
  readonly ip: string;
}

export const OWN: PodOfNode = {
  ...{ namespace: 'shop', name: 'web-0', uid: '0a1b2c3d-386c-4e0d-82c1-215f93ff955d' },
  ...{ sandbox: '5a'.repeat(32), container: 'ca'.repeat(32), pid: 4711 },
  ...{ word: 'own-word', ip: '10.1.2.3' },
};

export const OTHER: PodOfNode = {
  ...{ namespace: 'bank', name: 'vault-7', uid: 'f9e8d7c6-af98-11e8-a05e-246e96748774' },
  ...{ sandbox: '5b'.repeat(32), container: 'cb'.repeat(32), pid: 4812 },
  ...{ word: 'other-word', ip: '10.9.8.7' },
};

/** Whatever shows the other pod. */
export const MARKERS = [
  ...[OTHER.namespace, OTHER.name, OTHER.uid, OTHER.uid.replaceAll('-', '_')],
  ...[OTHER.sandbox.slice(0, 12), OTHER.container.slice(0, 12), OTHER.word, OTHER.ip],
  String(OTHER.pid),
];

export const targetOf = ({ uid }: PodOfNode) =>
  `${KUBELET_ROOT}/pods/${uid}/volume-subpaths/settings/app/0`;

export const podOf = ({ namespace, name, uid, word, ip }: PodOfNode) => ({
  metadata: { namespace, name, uid, annotations: { 'kubernetes.io/config.source': 'api' } },
  spec: {
    restartPolicy: 'Always',
    containers: [{ name: 'app', env: [{ name: 'WORD', value: word }] }, { name: 'side' }],
    volumes: [{ name: 'settings', configMap: { name: `settings-${name}` } }],
  },
  status: { phase: 'Running', podIP: ip },
});

function mountsOf({ uid, container }: PodOfNode, id: number): readonly string[] {
  const pod = `${KUBELET_ROOT}/pods/${uid}`;
  const task = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${container}/rootfs`;
  const payload = `${pod}/volumes/kubernetes.io~configmap/settings/..2026_05_28_20_26_40.244319292`;
  const target = `${pod}/volume-subpaths/settings/app/0`;
  return [
    `${id} 27 254:1 ${payload}/app.conf//deleted ${target} rw,relatime - ext4 /dev/vda1 rw`,
    `${id + 1} 30 0:88 / ${task} rw,relatime - overlay overlay rw,lowerdir=/snapshots/${id}/fs`,
  ];
}

function containersOf(pod: PodOfNode): readonly SyntheticContainer[] {
  const { namespace, name, uid, sandbox, container, word } = pod;
  const target = targetOf(pod);
  const common = {
    ...{ sandboxId: sandbox, podUid: uid, podName: name, podNamespace: namespace },
    labels: { word },
  };
  const message =
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc ' +
    'create failed: unable to start container process: error during container init: error mounting ' +
    `"${target}" to rootfs at "/etc/app.conf": mount ${target}:/etc/app.conf (via ` +
    '/proc/self/fd/6), flags: 0x5000: no such file or directory: unknown';
  const refused = { exitCode: 128, attempt: 3, reason: 'StartError', message };
  return [
    { ...common, ...refused, id: container, name: 'app', state: 'CONTAINER_EXITED' },
    { ...common, id: sideOf(pod), name: 'side', state: 'CONTAINER_RUNNING' },
  ];
}

/** A container that runs. */
export const sideOf = ({ container }: PodOfNode) => `${container.slice(0, 60)}51de`;

function addProcess(maker: NodeMaker, { uid, container, pid, word }: PodOfNode): ProcessEntry {
  maker
    .file(
      `/proc/${pid}/stat`,
      `${pid} (app) S 1 7 7 0 -1 4194560 1 0 0 0 300 200 0 0 30 10 14 0 1500 1 1\n`,
    )
    .file(`/proc/${pid}/status`, 'Name:\tapp\nVmRSS:\t  20 kB\n')
    .file(`/proc/${pid}/cmdline`, `/bin/app\0${word}\0`);
  return {
    ...{ pid, parent: 1, name: 'app', state: 'S', startTime: '1500', mountNamespace: null },
    cgroups: [`/kubepods/burstable/pod${uid}/${container}`],
  };
}

export interface TwoPods {
  /** Where the pods are known. */
  readonly knownTo?: 'kubelet' | 'runtime' | 'both' | 'nobody';
  readonly own?: PodOfNode;
}

export function nodeWithTwoPods({ knownTo = 'both', own = OWN }: TwoPods = {}): NodeMaker {
  const all = [own, OTHER];
  const inRuntime = knownTo === 'kubelet' || knownTo === 'nobody' ? [] : all;
  const inKubelet = knownTo === 'runtime' || knownTo === 'nobody' ? undefined : all;
  const mounts = all.flatMap((pod, at) => mountsOf(pod, 200 + at * 10));
  const maker = syntheticWorker({
    mounts,
    containers: inRuntime.flatMap(containersOf),
    sandboxes: inRuntime.map(({ sandbox, uid, name, namespace }) => ({
      ...{ id: sandbox, podUid: uid, podName: name, podNamespace: namespace },
    })),
    ...(inKubelet ? { pods: inKubelet.map(podOf) } : {}),
  });
  maker.file(
    '/proc/1/mountinfo',
    [...mounts, '27 1 254:1 / / rw - ext4 /dev/vda1 rw', ''].join('\n'),
  );
  maker.file('/proc/uptime', '65.00 100.00\n');
  const entries = all.map((pod) => addProcess(maker, pod));
  return maker.set('processes', { all: 'processes' }, { answer: entries });
}
