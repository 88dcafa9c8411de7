import { JOURNAL_BYTES, LOG_BYTES } from '../src/node/evidence/limits.ts';
import { linesIn } from '../src/node/evidence/logs/log-entries.ts';
import { SIGNATURES } from '../src/node/evidence/logs/log-signatures.ts';
import { logSignatures } from '../src/node/faults/index.ts';
import type { LogPlace } from '../src/node/model/node-reader.ts';
import { makeFolder, makeLink, makeProc, makeProcess } from './synthetic-kubelet.ts';
import { NodeMaker } from './synthetic-node.ts';

const SOCKET = '/run/containerd/containerd.sock';
export const POD_UID = '29da79e5-386c-4e0d-82c1-215f93ff955d';
export const KUBELET_ROOT = '/var/lib/kubelet';

export interface SyntheticContainer {
  readonly id: string;
  readonly name: string;
  readonly podUid?: string;
  readonly podName?: string;
  readonly podNamespace?: string;
  readonly state:
    | 'CONTAINER_CREATED'
    | 'CONTAINER_RUNNING'
    | 'CONTAINER_EXITED'
    | 'CONTAINER_UNKNOWN';
  /** What the list says, when it differs from what the container's own status says. */
  readonly listedState?: string;
  readonly createdAt?: string;
  readonly finishedAt?: string;
  readonly startedAt?: string;
  readonly attempt?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
  /** The log path in the runtime; by default where the kubelet puts logs. */
  readonly logPath?: string;
  /** Made past the kubelet, which then has left no mark on it. */
  readonly isUnmanaged?: boolean;
  readonly image?: string;
  readonly sandboxId?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface SyntheticSandbox {
  readonly id?: string;
  readonly podUid?: string;
  readonly podName?: string;
  readonly podNamespace?: string;
  readonly isReady?: boolean;
}

export interface SyntheticWorker {
  /** The kubelet's flags besides its socket. */
  readonly flags?: readonly string[];
  readonly kernelLog?: readonly string[];
  readonly kubeletLog?: readonly string[];
  /** What the kubelet says of itself; null when it says nothing. */
  readonly version?: string | null;
  readonly mounts?: readonly string[];
  readonly containers?: readonly SyntheticContainer[];
  readonly sandboxes?: readonly SyntheticSandbox[];
  /** The kubelet's list of pods; without it the kubelet asks for credentials. */
  readonly pods?: readonly object[];
  readonly runtimeName?: string;
  readonly socket?: string;
  /** Additional mounts; by default those of a complete small node. */
  readonly otherMounts?: readonly string[];
}

const BASE_MOUNTS = [
  '21 27 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw',
  '27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
  '30 27 0:26 / /run rw,nosuid,nodev shared:12 - tmpfs tmpfs rw,mode=755',
];

/** A worker with one kubelet and one containerd, as much of it as a check asks about. */
export function syntheticWorker(worker: SyntheticWorker): NodeMaker {
  const maker = new NodeMaker();
  makeProc(maker, [812]);
  makeProcess(maker, {
    words: [
      '/usr/bin/kubelet',
      `--container-runtime-endpoint=unix://${worker.socket ?? SOCKET}`,
      ...(worker.flags ?? []),
    ],
  });
  makeFolder(maker, '/proc/812/root', KUBELET_ROOT);
  maker
    .file('/proc/sys/kernel/hostname', 'worker-7\n')
    .file('/proc/sys/kernel/osrelease', '6.1.0-18-amd64\n')
    .file(
      '/proc/812/mountinfo',
      [...(worker.otherMounts ?? BASE_MOUNTS), ...(worker.mounts ?? []), ''].join('\n'),
    );
  makeLink(maker, '', '/bin', 'usr/bin');
  const { containers = [] } = worker;
  const uids = containers.filter(({ isUnmanaged }) => !isUnmanaged).map(({ podUid }) => podUid);
  const folders = new Set([POD_UID, ...uids.filter((uid) => uid !== undefined)]);
  maker.folder(`/proc/812/root${KUBELET_ROOT}/pods`, [...folders]);
  addKernel(maker, worker);
  addKubelet(maker, worker);
  if (worker.kubeletLog) {
    maker.settings = { kubeletLog: '/var/log/kubelet.log' };
    addLog(maker, { file: '/var/log/kubelet.log' }, worker.kubeletLog);
  }
  addRuntime(maker, worker);
  return maker;
}

const BOOTED = '2026-01-02T03:00:00+0000 worker-7 kernel: Linux version 6.1.0-18-amd64';

/** Limits of the kernel that are far from reached, and a log without complaints. */
export function addKernel(maker: NodeMaker, { kernelLog = [BOOTED] }: SyntheticWorker = {}): void {
  maker
    .link('/proc/self/ns/net', 'net:[4026531840]')
    .link('/proc/1/ns/net', 'net:[4026531840]')
    .link('/proc/1/ns/user', 'user:[4026531837]')
    .file('/proc/sys/net/netfilter/nf_conntrack_count', '1200\n')
    .file('/proc/sys/net/netfilter/nf_conntrack_max', '65536\n')
    .file('/proc/sys/fs/inotify/max_user_instances', '128\n')
    .file('/proc/sys/fs/inotify/max_user_watches', '8192\n')
    .file('/proc/812/root/etc/resolv.conf', 'nameserver 10.0.0.2\nsearch example.com\n')
    .set('inotify', { instances: 'inotify' }, { answer: [] });
  addLog(maker, { journal: ['_TRANSPORT=kernel'] }, kernelLog);
}

function addLog(maker: NodeMaker, log: LogPlace, lines: readonly string[]): void {
  const lastBytes = 'file' in log ? LOG_BYTES : JOURNAL_BYTES;
  const signatures = [...SIGNATURES, ...logSignatures];
  const answer = linesIn([lines.map((line) => `${line}\n`).join('')], { signatures });
  maker.set('log', { log, containing: [], lastBytes }, { answer });
}

function addKubelet(maker: NodeMaker, { version = 'v1.18.8', pods }: SyntheticWorker): void {
  const http = { scheme: 'http', address: '127.0.0.1', port: 10255 } as const;
  const https = { scheme: 'https', address: '127.0.0.1', port: 10250 } as const;
  const info = `kubernetes_build_info{git_version="${version}",major="1",platform="linux/amd64"} 1\n`;
  if (version === null) {
    maker.set('kubelet', { ...http, path: '/metrics' }, { failure: 'refused' });
    maker.set('kubelet', { ...https, path: '/metrics' }, { failure: 'refused' });
    maker.set('status', { path: '/proc/812/root' }, { failure: 'denied' });
  } else {
    maker.set('kubelet', { ...http, path: '/metrics' }, { answer: { status: 200, body: info } });
  }
  if (pods) {
    const body = JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items: pods });
    maker.set('kubelet', { ...http, path: '/pods' }, { answer: { status: 200, body } });
  } else {
    maker.set('kubelet', { ...http, path: '/pods' }, { failure: 'refused' });
    const answer = { status: 401, body: 'Unauthorized' };
    maker.set('kubelet', { ...https, path: '/pods' }, { answer });
  }
}

function addRuntime(maker: NodeMaker, worker: SyntheticWorker): void {
  const { containers = [], sandboxes = [{}], runtimeName = 'containerd', socket = SOCKET } = worker;
  const criVersion = 'v1' as const;
  const call = (name: 'Version' | 'ListPodSandbox' | 'ListContainers', message: object) =>
    maker.set('runtime', { socket, call: name }, { answer: { criVersion, message } });
  call('Version', {
    version: '0.1.0',
    runtimeName,
    runtimeVersion: '1.6.20',
    runtimeApiVersion: 'v1',
  });
  const items = sandboxes.map(sandboxMessage);
  call('ListPodSandbox', { items });
  for (const status of items) {
    const asked = { socket, call: 'PodSandboxStatus', id: status.id } as const;
    maker.set('runtime', asked, { answer: { criVersion, message: { status } } });
  }
  call('ListContainers', {
    containers: containers.map((each) => ({
      ...containerMessage(each),
      state: each.listedState ?? each.state,
    })),
  });
  for (const container of containers) {
    const { exitCode = 0, reason = '', message = '' } = container;
    const { name, podUid = POD_UID, podName = 'web-0', attempt = 0 } = container;
    const { logPath = `/var/log/pods/default_${podName}_${podUid}/${name}/${attempt}.log` } =
      container;
    const status = {
      ...containerMessage(container),
      ...(container.startedAt === undefined ? {} : { startedAt: container.startedAt }),
      finishedAt: container.finishedAt ?? '1780000000000000000',
      exitCode,
      reason,
      message,
      logPath,
    };
    const asked = { socket, call: 'ContainerStatus', id: container.id.padEnd(64, 'c') } as const;
    const answer = { criVersion, message: { status } };
    maker.set('runtime', asked, { answer });
    maker.set('runtime', { ...asked, verbose: true }, { answer });
  }
}

function sandboxMessage(sandbox: SyntheticSandbox, index: number) {
  const { podUid = POD_UID, podName = 'web-0', podNamespace = 'default', isReady = true } = sandbox;
  return {
    id: sandbox.id ?? `${index}`.padStart(64, '5'),
    metadata: { name: podName, uid: podUid, namespace: podNamespace, attempt: 0 },
    state: isReady ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
    createdAt: '1779000000000000000',
    labels: podUid === '' ? {} : { 'io.kubernetes.pod.uid': podUid },
  };
}

function containerMessage(container: SyntheticContainer) {
  const {
    createdAt = '1779990000000000000',
    attempt = 0,
    image = 'registry.example/app:1',
  } = container;
  return {
    id: container.id.padEnd(64, 'c'),
    podSandboxId: container.sandboxId ?? '5'.repeat(63),
    metadata: { name: container.name, attempt },
    image: { image },
    state: container.state,
    createdAt,
    ...(container.isUnmanaged
      ? { labels: container.labels ?? {}, annotations: {} }
      : marksOfKubelet(container)),
  };
}

/** What the kubelet writes on every container that it makes. */
function marksOfKubelet({
  name,
  podUid = POD_UID,
  podName = 'web-0',
  ...more
}: SyntheticContainer) {
  const { podNamespace = 'default', attempt = 0, labels } = more;
  return {
    labels: {
      'io.kubernetes.pod.uid': podUid,
      'io.kubernetes.pod.name': podName,
      'io.kubernetes.pod.namespace': podNamespace,
      'io.kubernetes.container.name': name,
      ...labels,
    },
    annotations: {
      'io.kubernetes.container.hash': '5d1c2a9e',
      'io.kubernetes.container.restartCount': `${attempt}`,
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    },
  };
}
