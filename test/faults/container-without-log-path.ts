import { LOG_BYTES } from '../../src/node/evidence/limits.ts';
import { linesIn } from '../../src/node/evidence/logs/log-entries.ts';
import type { Entry, FileStatus } from '../../src/node/model/node-reader.ts';
import type { OptionalReads } from '../describe-fault.ts';
import { ALL_SIGNATURES } from '../log-wordings.ts';
import { makeFolder, makeLink, makeProc, makeProcess } from '../synthetic-kubelet.ts';
import { type NodeMaker, type SyntheticNodes, syntheticNodes } from '../synthetic-node.ts';
import {
  POD_UID,
  type SyntheticContainer,
  type SyntheticSandbox,
  type SyntheticWorker,
  syntheticWorker,
} from '../synthetic-worker.ts';
import { boot, EDGECORE_LINE, ID, ordinary, removal } from './removal-lines.ts';

const SANDBOX = '7'.repeat(64);
const CLOCK = new Date('2026-06-02T09:36:20Z');
const NEW = 'v1.34.1';
const STRANGE_UID = '8f14e45f-ceea-467f-a8f1-0c6c6d1e5a11';
const CRICTLS_UID = 'hdishd83djaidwnduwk28bcsb';
const CRITESTS_UID = 'cri-test-uid5f0c2a9e';
const UIDS = [POD_UID, STRANGE_UID, CRICTLS_UID, CRITESTS_UID];
const PODS = '/proc/812/root/var/lib/kubelet/pods';

const status = (type: FileStatus['type']): FileStatus => ({
  ...{ type, mode: 0o755, owner: 0, device: '254:1', inode: '2' },
  ...{ links: 1, sizeBytes: 7, modifiedMs: 0 },
});
const link = (name: string): Entry => ({ name, status: status('link'), isEmpty: null });
const file = (name: string): Entry => ({ name, status: status('file'), isEmpty: null });
const empty = (name: string): Entry => ({ name, status: status('folder'), isEmpty: true });
const full = (name: string): Entry => ({ name, status: status('folder'), isEmpty: false });

/** The root directory of a system with merged /usr, as `ls -f` might list it. */
const ROOT = [
  full('var'),
  full('etc'),
  full('boot'),
  link('bin'),
  link('sbin'),
  link('lib'),
  empty('srv'),
];
const WITHOUT_BIN = ROOT.filter(({ name }) => name !== 'bin');

/** Which mounts lie on names of the working directory. */
interface Scene extends Partial<SyntheticWorker> {
  readonly folder?: string;
  readonly entries?: readonly Entry[];
  readonly isBinGone?: boolean;
  /** Which links beside /bin lead into /usr: both, unless it is given. */
  readonly merged?: readonly string[];
  readonly log?: readonly string[];
  /** The pods that the kubelet has a directory for. */
  readonly podFolders?: readonly string[];
}

function scene({
  folder = '/',
  entries = ROOT,
  isBinGone,
  merged = ['sbin', 'lib'],
  podFolders = [],
  log,
  ...worker
}: Scene) {
  const maker = syntheticWorker({ mounts: [], version: NEW, ...worker });
  maker.clock = CLOCK;
  maker.link('/proc/812/cwd', folder);
  for (const uid of UIDS) maker.missing('status', `${PODS}/${uid}`);
  for (const uid of podFolders) makeFolder(maker, '/proc/812/root', `/var/lib/kubelet/pods/${uid}`);
  addEntries(maker, '/proc/812/cwd', entries, folder, worker.mounts ?? []);
  if (isBinGone) takeBinAway(maker, merged);
  if (log) addLog(maker, '/proc/812/fd/2', log);
  return maker;
}

/** The entries before the first that is a mount are asked about in one question. */
function addEntries(
  maker: NodeMaker,
  path: string,
  entries: readonly Entry[],
  folder: string,
  mounts: readonly string[],
): void {
  maker.folder(
    path,
    entries.map(({ name }) => name),
  );
  const sorted = entries.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const isMount = ({ name }: Entry) =>
    mounts.some((line) => line.split(' ')[4] === `${folder === '/' ? '' : folder}/${name}`);
  const at = sorted.findIndex(isMount);
  const free = at < 0 ? sorted : sorted.slice(0, at);
  // A relative log path is the beginning of a few names only.
  for (const logPath of ['b', 'bo']) {
    const some = sorted.filter(({ name }) => name.startsWith(logPath));
    maker.set('entries', { path, names: some.map(({ name }) => name) }, { answer: some });
  }
  maker.set('entries', { path, names: free.map(({ name }) => name) }, { answer: free });
}

function takeBinAway(maker: NodeMaker, merged: readonly string[]): void {
  maker.missing('status', '/bin');
  makeFolder(maker, '', '/usr/bin/sh', { type: 'link', mode: 0o777 });
  makeFolder(maker, '/proc/812/root', '/usr/bin');
  for (const name of ['sbin', 'lib']) {
    if (merged.includes(name)) makeLink(maker, '', `/${name}`, `usr/${name}`);
    else makeFolder(maker, '', `/${name}`);
  }
}

function addLog(maker: NodeMaker, path: string, lines: readonly string[]): void {
  const read = linesIn([lines.map((line) => `${line}\n`).join('')], {
    modifiedMs: CLOCK.getTime(),
    signatures: ALL_SIGNATURES,
  });
  const asked = { log: { file: path }, containing: [], lastBytes: LOG_BYTES };
  maker.set('log', asked, { answer: read });
  maker
    .link('/proc/812/fd/1', '/var/log/kubelet.log')
    .link('/proc/812/fd/2', '/var/log/kubelet.log')
    .folder('/proc/812/root/var/log', ['kubelet.log', 'syslog']);
}

/** A container that was made over CRI with nothing but its name and its image. */
const bare = (change: Partial<SyntheticContainer> = {}): SyntheticContainer => ({
  ...{ id: ID, name: 'mqtt', state: 'CONTAINER_EXITED', exitCode: 137, reason: 'Error' },
  ...{ isUnmanaged: true, logPath: '', sandboxId: SANDBOX },
  image: 'docker.io/library/eclipse-mosquitto:1.6.15',
  ...change,
});
const nameless: SyntheticSandbox = { id: SANDBOX, podName: 'mqtt', podUid: '', podNamespace: '' };
const ours: SyntheticContainer = { id: 'a1', name: 'app', state: 'CONTAINER_RUNNING' };
const mqtt: Partial<SyntheticWorker> = { sandboxes: [{}, nameless], containers: [ours, bare()] };

const bootMount = '60 27 254:2 / /boot rw,relatime shared:30 - ext4 /dev/vda2 rw';

const active: Readonly<Record<string, Scene>> = {
  'active-collector': { ...mqtt, log: [...ordinary, boot] },
  'active-pod-worker': {
    ...mqtt,
    version: 'v1.36.3',
    log: [
      `I0602 09:35:55.243111     812 pod_container_deletor.go:53] "DeleteContainer returned error" containerID={"Type":"containerd","ID":"${ID}"} err="failed to remove container \\"${ID}\\" log \\"boot\\": remove boot: directory not empty"`,
    ],
  },
  'active-unstructured': {
    ...mqtt,
    version: 'v1.20.2',
    log: [
      `E0602 09:35:55.243111     812 kuberuntime_gc.go:143] Failed to remove container "${ID}": failed to remove container "${ID}" log "boot": remove boot: directory not empty`,
    ],
  },
  'active-version-unknown': { ...mqtt, version: null, log: [boot] },
  // On a host whose /bin is a directory of its own the kubelet gets stuck there, and /bin is not harmed.
  'active-bin-is-a-folder': {
    ...mqtt,
    entries: [full('bin'), full('boot'), full('etc')],
    log: [removal('bin', 'directory not empty')],
  },
};

const latent: Readonly<Record<string, Scene>> = {
  'latent-exited': mqtt,
  'latent-with-boot-mounted': { ...mqtt, mounts: [bootMount] },
  'latent-created': { ...mqtt, containers: [ours, bare({ state: 'CONTAINER_CREATED' })] },
  'latent-old-line': { ...mqtt, log: [boot.replace('09:35:55', '08:35:55'), ...ordinary] },
  'latent-running-broker': {
    ...mqtt,
    containers: [ours, bare({ state: 'CONTAINER_RUNNING' })],
  },
  // Anybody can copy the marks of the kubelet; they say nothing of one that has ended.
  'latent-exited-with-marks': {
    podFolders: [POD_UID],
    containers: [ours, { id: 'b2', name: 'copy', state: 'CONTAINER_EXITED', logPath: '' }],
  },
  'latent-state-unknown': {
    sandboxes: [{}, { ...nameless, podName: 'edge-agent' }],
    containers: [
      ours,
      bare({ name: 'agent', state: 'CONTAINER_UNKNOWN', image: 'registry.example/agent:3' }),
    ],
  },
  'latent-more-names-than-are-shown': {
    ...mqtt,
    folder: '/data',
    entries: Array.from({ length: 103 }, (_, index) => file(`f${index + 100}`)),
  },
  'latent-one-name': { ...mqtt, folder: '/data', entries: [file('state')] },
  'latent-nothing-before-boot': { ...mqtt, entries: WITHOUT_BIN },
  'latent-running-stranger': {
    sandboxes: [{}, { ...nameless, podName: 'edge-agent' }],
    containers: [
      ours,
      bare({ name: 'agent', state: 'CONTAINER_RUNNING', image: 'registry.example/agent:3' }),
    ],
  },
  'latent-labelled-broker': {
    sandboxes: [{}, { ...nameless, podName: 'mqtt-kubeedge' }],
    containers: [
      ours,
      bare({ labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt' }, image: 'mirror/mqtt' }),
    ],
  },
  'latent-of-unknown-pod': {
    sandboxes: [{}, { ...nameless, podName: 'batch', podUid: STRANGE_UID }],
    containers: [
      ours,
      bare({
        ...{ name: 'job', image: 'registry.example/job:2' },
        labels: { 'io.kubernetes.pod.uid': STRANGE_UID },
      }),
    ],
  },
  'latent-installation-package': {
    sandboxes: [{}, { ...nameless, podName: 'edgecore', podNamespace: 'kubeedge' }],
    containers: [
      ours,
      bare({ name: 'container', image: 'docker.io/kubeedge/installation-package:v1.16.0' }),
    ],
  },
  'latent-crictl': {
    sandboxes: [
      {},
      { ...nameless, podName: 'nginx-sandbox', podNamespace: 'default', podUid: CRICTLS_UID },
    ],
    containers: [ours, bare({ name: 'nginx', image: 'docker.io/library/nginx:1.27' })],
  },
  'latent-critest': {
    sandboxes: [
      {},
      {
        id: SANDBOX,
        podName: 'container-with-log-5f0c2a9e',
        podNamespace: 'cri-test-namespace5f0c2a9e',
        podUid: CRITESTS_UID,
      },
    ],
    containers: [ours, bare({ name: 'container-for-test', image: 'registry.k8s.io/e2e:1' })],
  },
  'latent-in-the-kubelets-folder': {
    ...mqtt,
    folder: '/var/lib/kubelet',
    entries: [
      empty('checkpoints'),
      file('config.yaml'),
      file('cpu_manager_state'),
      full('device-plugins'),
      full('pods'),
    ],
  },
  'latent-odd-names': {
    ...mqtt,
    folder: '/data/edge',
    entries: [file('.first'), file('a b'), file('b\udcff'), file('bö'), full('pods')],
  },
  'latent-read-only-root': {
    ...mqtt,
    otherMounts: ['27 1 254:1 / / ro,relatime shared:1 - ext4 /dev/vda1 ro'],
  },
  // dockershim and cri-dockerd report a log path without its directory as it is: below the working directory.
  'latent-relative-path': {
    ...mqtt,
    runtimeName: 'docker',
    containers: [ours, bare({ logPath: 'b' })],
  },
  'latent-of-known-pod': {
    podFolders: [POD_UID],
    sandboxes: [{}],
    containers: [
      ours,
      bare({
        name: 'side',
        sandboxId: `${'5'.repeat(63)}0`,
        labels: { 'io.kubernetes.pod.uid': POD_UID },
      }),
    ],
    pods: [
      { metadata: { name: 'web-0', namespace: 'default', uid: POD_UID }, spec: {}, status: {} },
    ],
  },
  'latent-runtime-loses-paths': {
    podFolders: [POD_UID],
    sandboxes: [{}],
    containers: [
      { ...ours, logPath: '' },
      { id: 'b2', name: 'init', state: 'CONTAINER_EXITED', logPath: '' },
    ],
  },
};

const damaged: Readonly<Record<string, Scene>> = {
  'damaged-and-active': { ...mqtt, isBinGone: true, entries: WITHOUT_BIN, log: [boot] },
  'damaged-and-one-link-is-left': {
    ...mqtt,
    isBinGone: true,
    entries: WITHOUT_BIN,
    merged: ['lib'],
  },
  'damaged-and-armed': { ...mqtt, isBinGone: true, entries: WITHOUT_BIN },
  'damaged-two-containers': {
    sandboxes: [
      {},
      nameless,
      { ...nameless, id: '8'.repeat(64), podName: 'edgecore', podNamespace: 'kubeedge' },
    ],
    containers: [
      ours,
      bare(),
      bare({
        id: 'd00d',
        name: 'container',
        sandboxId: '8'.repeat(64),
        image: 'kubeedge/installation-package:v1.16.0',
      }),
    ],
    isBinGone: true,
    entries: WITHOUT_BIN,
  },
  'damaged-and-one-runs': {
    sandboxes: [{}, nameless, { ...nameless, id: '8'.repeat(64) }],
    containers: [
      ours,
      bare(),
      bare({ id: 'd00d', sandboxId: '8'.repeat(64), state: 'CONTAINER_RUNNING' }),
    ],
    isBinGone: true,
    entries: WITHOUT_BIN,
  },
  'damaged-and-another-with-a-relative-path': {
    runtimeName: 'docker',
    sandboxes: [{}, nameless, { ...nameless, id: '8'.repeat(64) }],
    containers: [
      ours,
      bare(),
      bare({
        id: 'd00d',
        sandboxId: '8'.repeat(64),
        logPath: 'bo',
        image: 'kubeedge/installation-package:v1.16.0',
      }),
    ],
    isBinGone: true,
    entries: WITHOUT_BIN,
  },
  'damaged-and-a-relative-path': {
    ...mqtt,
    runtimeName: 'docker',
    containers: [ours, bare({ logPath: 'b' })],
    isBinGone: true,
    entries: WITHOUT_BIN,
  },
  'damaged-and-disarmed': {
    containers: [ours],
    isBinGone: true,
    entries: WITHOUT_BIN,
    log: [boot],
  },
};

const lookAlikes: Readonly<Record<string, Scene>> = {
  healthy: { containers: [ours], log: ordinary },
  'benign-old-kubelet': { ...mqtt, version: 'v1.18.8' },
  'benign-empty-folder': { ...mqtt, folder: '/var/lib/kubelet-cwd', entries: [] },
  'benign-relative-path-without-match': {
    ...mqtt,
    runtimeName: 'docker',
    containers: [ours, bare({ logPath: 'zz-no-such-name' })],
  },
  'benign-folder-as-path': {
    ...mqtt,
    runtimeName: 'docker',
    containers: [ours, bare({ logPath: '/var/log/pods/mqtt' })],
  },
  'look-alike-missing-log-file': {
    containers: [ours, bare({ logPath: '/var/log/pods/default_x_1/c/0.log' })],
    sandboxes: [{}, nameless],
  },
  'look-alike-crio': {
    runtimeName: 'cri-o',
    sandboxes: [{}, nameless],
    containers: [ours, bare({ logPath: `/var/log/pods/mqtt/${ID}.log` })],
  },
  'look-alike-absolute-removal': {
    containers: [ours],
    log: [
      ...ordinary,
      removal('/var/log/pods/default_web-0_1/app/0.log', 'permission denied'),
      `E0602 09:35:55.243111     812 kuberuntime_gc.go:151] "Failed to remove container" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" containerID="${ID}"`,
      `E0602 09:35:55.243111     812 kuberuntime_gc.go:151] "Failed to remove container" err="failed to remove container \\"${ID}\\" log legacy symbolic link \\"/var/log/containers/web-0.log\\": remove /var/log/containers/web-0.log: permission denied" containerID="${ID}"`,
    ],
  },
  'look-alike-removed-since': { containers: [ours], log: [boot, ...ordinary] },
  'look-alike-being-deleted': {
    containers: [ours, { id: 'b2', name: 'old', state: 'CONTAINER_EXITED', podUid: STRANGE_UID }],
  },
};

const unclear: Readonly<Record<string, Scene>> = {
  'unclear-bin-gone-alone': { containers: [ours], isBinGone: true, entries: WITHOUT_BIN },
  'latent-bin-gone-not-merged': {
    ...mqtt,
    isBinGone: true,
    merged: [],
    entries: WITHOUT_BIN,
  },
  'latent-newer-than-verified': { ...mqtt, version: 'v1.40.0' },
  'unclear-version-unknown': { ...mqtt, version: null },
  'unclear-prerelease': { ...mqtt, version: 'v1.19.0-rc.1' },
};

/** /bin is gone, and such a container is there; but what the kubelet does cannot have done it. */
const innocent: Readonly<Record<string, Scene>> = {
  'latent-bin-gone-otherwise': {
    ...mqtt,
    isBinGone: true,
    folder: '/data',
    entries: [file('a'), full('pods')],
  },
  'active-and-works-elsewhere': {
    ...mqtt,
    isBinGone: true,
    folder: '/data',
    entries: [file('a'), full('pods')],
    log: [removal('pods', 'directory not empty')],
  },
  'latent-bin-gone-and-a-relative-path': {
    ...mqtt,
    runtimeName: 'docker',
    containers: [ours, bare({ logPath: 'bo' })],
    isBinGone: true,
    entries: WITHOUT_BIN,
  },
  'active-bin-out-of-reach': {
    ...mqtt,
    ...{ isBinGone: true, entries: [full('afs'), ...WITHOUT_BIN] },
    log: [removal('afs', 'directory not empty')],
  },
  'latent-bin-out-of-reach': { ...mqtt, isBinGone: true, entries: [full('afs'), ...WITHOUT_BIN] },
  'latent-bin-gone-and-running': {
    ...mqtt,
    containers: [ours, bare({ state: 'CONTAINER_RUNNING' })],
    isBinGone: true,
    entries: WITHOUT_BIN,
  },
};

/** A kubelet in a container with a root of its own: what it deletes is not the host's /bin. */
function kubeletInContainer(): NodeMaker {
  const maker = scene(damaged['damaged-and-active'] ?? {});
  return maker.missing('status', '/proc/812/root/usr/bin');
}

/** The runtime does not answer: what the log says is all there is. */
function silent(log: readonly string[]): NodeMaker {
  const maker = scene({ ...mqtt, log });
  for (const key of [...maker.answers.keys()]) {
    if (key.startsWith('["runtime"')) maker.answers.set(key, { failure: 'timeout' });
  }
  return maker;
}

function unreadableFolder(): NodeMaker {
  return scene(mqtt).set('folder', { path: '/proc/812/cwd' }, { failure: 'timeout' });
}

function folderAsPath(): NodeMaker {
  const maker = scene(lookAlikes['benign-folder-as-path'] ?? {});
  return makeFolder(maker, '', '/var/log/pods/mqtt');
}

/** An edge node as people described it: edgecore, iSulad, keadm's broker, and a /bin that is gone. */
function edgeNode(): NodeMaker {
  const socket = '/run/isulad.sock';
  const maker = scene({
    ...mqtt,
    ...{ socket, runtimeName: 'iSulad', version: null, isBinGone: true },
    ...{ entries: WITHOUT_BIN, mounts: [bootMount] },
  });
  makeProcess(maker, {
    ...{
      comm: 'edgecore',
      words: ['/usr/local/bin/edgecore'],
      cgroup: '/system.slice/edgecore.service',
    },
    executable: '/usr/local/bin/edgecore',
  });
  maker.clock = new Date('2023-04-17T09:36:20Z');
  maker.file(
    '/proc/812/root/etc/kubeedge/config/edgecore.yaml',
    [
      ...['apiVersion: edgecore.config.kubeedge.io/v1alpha2', 'kind: EdgeCore', 'modules:'],
      ...['  edged:', '    enable: true', '    rootDirectory: /var/lib/edged'],
      ...['    tailoredKubeletConfig:', `      containerRuntimeEndpoint: unix://${socket}`],
      `    remoteRuntimeEndpoint: unix://${socket}\n`,
    ].join('\n'),
  );
  makeFolder(maker, '/proc/812/root', '/var/lib/edged');
  makeFolder(maker, '/proc/812/root', '/usr/local/bin/edgecore', { type: 'file' });
  maker.set('status', { path: '/proc/812/root' }, { answer: status('folder') });
  const asked = { program: '/proc/812/exe', arguments: ['--version'] };
  maker.set('version', asked, { answer: 'KubeEdge v1.13.0\n' });
  for (const path of ['/metrics', '/pods']) {
    const place = { scheme: 'http', address: '127.0.0.1', port: 10350, path } as const;
    maker.set('kubelet', place, { failure: 'refused' });
  }
  addLog(maker, '/proc/812/root/var/log/kubeedge/edgecore.log', [EDGECORE_LINE]);
  maker.folder('/proc/812/root/var/log/kubeedge', ['edgecore.log']);
  return maker.file('/proc/sys/kernel/hostname', 'edge\n');
}

/** Somebody stopped the kubelet to save /bin. */
function asleep(change: Scene = {}): NodeMaker {
  const maker = makeProc(scene({ ...mqtt, ...change }), []);
  makeFolder(maker, '', '/var/lib/kubelet');
  makeFolder(maker, '', '/usr/bin/kubelet', { type: 'file' });
  maker.set('status', { path: '/' }, { answer: status('folder') });
  const asked = { program: '/usr/bin/kubelet', arguments: ['--version'] };
  return maker.set('version', asked, { answer: `Kubernetes ${NEW}\n` });
}

/** Every made node by the name of its fixture. */
export function nodes(): SyntheticNodes {
  const all = { ...active, ...latent, ...damaged, ...lookAlikes, ...unclear, ...innocent };
  return {
    ...syntheticNodes(all, scene),
    'active-by-the-log-alone': silent([boot]),
    'benign-folder-as-path': folderAsPath(),
    'damaged-edgecore-on-isulad': edgeNode(),
    'unclear-runtime-silent': silent([
      'E0602 09:36:12.101010     812 container_log_manager.go:293] "Failed to stat container log after reopen" err="stat : no such file or directory" worker=1 containerID="ca80" path=""',
    ]),
    // Its last line is old, and the runtime, which knows whether the container still exists, is silent.
    'unclear-runtime-silent-and-long-ago': silent([
      boot.replace(' 09:', ' 07:'),
      'I0602 09:36:10.101010     812 kubelet.go:2405] "SyncLoop (PLEG): event for pod" pod="default/web-0"',
    ]),
    // All of the log is old: another kubelet wrote it.
    'unclear-runtime-silent-and-log-of-march': silent([boot.replace('0602', '0302')]),
    'active-kubelet-in-container': kubeletInContainer(),
    'unclear-folder': unreadableFolder(),
    'unclear-bin': scene({ containers: [ours] }).set(
      'status',
      { path: '/bin' },
      { failure: 'denied' },
    ),
    'damaged-and-folder-unread': scene({ ...damaged['damaged-and-active'] }).set(
      'folder',
      { path: '/proc/812/cwd' },
      { failure: 'timeout' },
    ),
    'latent-bin-gone-and-folder-unread': asleep({ isBinGone: true }).set(
      'folder',
      { path: '/proc/812/cwd' },
      { failure: 'timeout' },
    ),
    'latent-kubelet-stopped': asleep(),
  };
}

/** What a clear node can do without. */
export const optionalReads: readonly OptionalReads[] = [
  {
    reads: /^(?:log |link \/proc\/\d+\/fd\/[12]$|folder .*\/logs?$)/,
    why: 'the log proves deletions; the runtime and the working directory show that there are none',
  },
  {
    reads: /^folder .*\/pods$/,
    why: 'it saves calls to the runtime: without it every container is asked about',
  },
  {
    reads: /^runtime CRI ContainerStatus \w+ verbose$/,
    why: 'it is recorded for a later reader only',
    on: [
      'benign-empty-folder',
      'benign-folder-as-path',
      'benign-old-kubelet',
      'benign-relative-path-without-match',
    ],
  },
];
