import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import { absolutePath, cleanPath, resolvePath, unlessMissing } from '../text/file-path.ts';
import { findKubelet, type KubeletProcess, type RejectedProcess } from './kubelet-process.ts';
import { type KubeletArguments, kubeletArguments } from './kubelet-settings.ts';

/** The kubelet of this node: whether it runs, and the settings that we need. */
export interface Kubelet {
  /** running: we found its process. stopped: no process, but its root exists. absent: neither. */
  readonly presence: 'running' | 'stopped' | 'absent';
  /** The program: kubelet, k3s, edgecore... */
  readonly program: string;
  readonly process?: ProcessFacts;
  /** A signal has stopped its process (SIGSTOP), and it waits for SIGCONT. */
  readonly isPaused?: true;
  /** Resolved, as in the mount table, without a trailing slash. */
  readonly root: string;
  /** What set the root: "/proc/812/cmdline", "default", "--kubelet-root"... */
  readonly rootOrigin: string;
  /** The configured root, if that is a link: the runtime knows mounts by this path. */
  readonly configuredRoot?: string;
  /** Evidence against these facts about the kubelet. With it, no verdict may be clear. */
  readonly contradiction?: string;
  /** Path of the runtime's socket, from the kubelet's settings or from our options. */
  readonly runtimeSocket?: string;
  /** The socket in the kubelet's settings, if --runtime-endpoint names another. */
  readonly ownRuntimeSocket?: string;
  /** 0 if disabled. */
  readonly readOnlyPort: number;
  /** 0 if disabled. */
  readonly securePort: number;
  /** The address to connect to: 127.0.0.1 unless the kubelet binds another. */
  readonly address: string;
  readonly nodeName?: string;
  /** The directory or the file of its static pods, from its settings. */
  readonly staticPodPath?: string;
  /** It also reads static pods from a URL. */
  readonly hasStaticPodUrl?: boolean;
  /** The resolv.conf that pods inherit, if set; empty if they inherit none. */
  readonly resolvConf?: string;
  readonly hasClusterDomain?: boolean;
  /** Processes with the name of a kubelet, and why they were rejected. */
  readonly rejected: readonly RejectedProcess[];
  /** Settings that could not be read; the defaults are assumed. */
  readonly unknowns: readonly string[];
}

interface ProcessFacts {
  readonly pid: number;
  /** Clock ticks from the boot to its start. With the pid this identifies the process. */
  readonly startTime: string;
  /** "mnt:[4026531841]" */
  readonly mountNamespace: string;
  readonly workingFolder: string;
  readonly executable: string;
}

export const kubelet = defineEvidence<Kubelet>({
  id: 'kubelet',
  title: 'The kubelet and its settings',
  collect: async (snapshot) => {
    const { process, rejected, rival } = await findKubelet(snapshot);
    return process
      ? runningKubelet(snapshot, process, rejected)
      : idleKubelet(snapshot, rejected, rival);
  },
});

async function runningKubelet(
  snapshot: Snapshot,
  process: KubeletProcess,
  rejected: readonly RejectedProcess[],
): Promise<Kubelet> {
  const { isPaused, ...facts } = await processFacts(snapshot, process.pid);
  const { workingFolder } = facts;
  const reported = await attempt(kubeletArguments({ node: snapshot.node, process, workingFolder }));
  // If our options set the root, the check can continue without the settings.
  if (!reported.known && snapshot.settings.kubeletRoot === undefined) throw reported.error;
  const settings = reported.known
    ? reported.value
    : { ...NOTHING_REPORTED, unknowns: [reported.why] };
  const { staticPodPath, resolvConf, hasClusterDomain, unknowns } = settings;
  return defined({
    presence: 'running',
    program: process.program,
    process: facts,
    ...(isPaused ? { isPaused } : {}),
    runtimeSocket: runtimeSocket(snapshot, settings.runtimeEndpoint),
    ownRuntimeSocket:
      snapshot.settings.runtimeEndpoint === undefined
        ? undefined
        : socketOf(settings.runtimeEndpoint ?? ''),
    nodeName: settings.nodeName ?? (await hostName(snapshot)),
    ...(await runningRoot(snapshot, facts, settings)),
    // A stopped process accepts connections but never answers: every question would time out.
    readOnlyPort: isPaused ? 0 : settings.readOnlyPort,
    securePort: isPaused ? 0 : settings.securePort,
    address: reachableAddress(settings.address),
    ...(settings.hasStaticPodUrl ? { hasStaticPodUrl: true } : {}),
    ...{ staticPodPath, resolvConf, hasClusterDomain, rejected, unknowns },
  });
}

const NOTHING_REPORTED: KubeletArguments = {
  defaultRoots: [],
  readOnlyPort: 0,
  securePort: 10_250,
  unknowns: [],
};

async function processFacts(
  { node }: Snapshot,
  pid: number,
): Promise<ProcessFacts & { readonly isPaused: boolean }> {
  const folder = `/proc/${pid}`;
  const stat = await node.ask('file', { path: `${folder}/stat` });
  return {
    pid,
    // 812 (kubelet) T 1 812 812 0 -1 4194560 ...; a traced process has a small "t".
    isPaused: stat.slice(stat.lastIndexOf(')')).startsWith(') T '),
    startTime: parseStartTime(stat, folder),
    mountNamespace: await node.ask('link', { path: `${folder}/ns/mnt` }),
    workingFolder: await node.ask('link', { path: `${folder}/cwd` }),
    executable: await node.ask('link', { path: `${folder}/exe` }),
  };
}

/** Field 22. The name in field 2 may contain spaces and brackets, so count from its end. */
function parseStartTime(stat: string, folder: string): string {
  // 812 (kubelet) S 1 812 812 0 -1 4194560 ... 20 0 14 0 1532 1936203776 ...
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTime = fields[22 - 3] ?? '';
  if (!/^\d+$/.test(startTime)) throw new ReadError('malformed', `${folder}/stat`);
  return startTime;
}

type Root = Pick<Kubelet, 'root' | 'rootOrigin' | 'configuredRoot' | 'contradiction'>;

async function runningRoot(
  snapshot: Snapshot,
  { pid, workingFolder }: ProcessFacts,
  settings: KubeletArguments,
): Promise<Root> {
  const view = `/proc/${pid}/root`;
  const { kubeletRoot } = snapshot.settings;
  const named =
    settings.root === undefined ? undefined : absolutePath(settings.root, workingFolder);
  if (kubeletRoot !== undefined) {
    const [only, ...others] = named === undefined ? settings.defaultRoots : [named];
    const reported = others.length === 0 ? only : undefined;
    return overruledRoot(snapshot, view, kubeletRoot, reported);
  }
  const path = named ?? (await defaultRoot(snapshot, view, settings));
  return resolvedRoot(snapshot, view, path, settings.rootOrigin ?? 'default');
}

/** Our options may contradict the kubelet's settings, but then the report must say so. */
async function overruledRoot(
  snapshot: Snapshot,
  view: string,
  kubeletRoot: string,
  reported: string | undefined,
): Promise<Root> {
  const given = await resolvedRoot(snapshot, view, kubeletRoot, '--kubelet-root');
  if (reported === undefined) return given;
  const theirs = await unlessMissing(resolvePath(snapshot.node, view, reported));
  if (theirs === undefined || theirs === given.root) return given;
  const contradiction = `--kubelet-root is ${given.root}, but the kubelet that runs here has ${theirs}`;
  return { ...given, contradiction };
}

/** The default differs between versions, so the root is the one that contains pods. */
async function defaultRoot(
  snapshot: Snapshot,
  view: string,
  settings: KubeletArguments,
): Promise<string> {
  const [only = '', ...others] = settings.defaultRoots;
  if (others.length === 0) return only;
  const inUse: string[] = [];
  for (const root of settings.defaultRoots) {
    const pods = snapshot.node.ask('status', { path: `${view}${root}/pods` });
    if (await unlessMissing(pods)) inUse.push(root);
  }
  const [first, second] = inUse;
  if (first !== undefined && second === undefined) return first;
  const list = settings.defaultRoots.join(' or ');
  throw new ReadError('failed', list, 'which is the kubelet root? Name it with --kubelet-root');
}

async function resolvedRoot(
  snapshot: Snapshot,
  view: string,
  path: string,
  rootOrigin: string,
): Promise<Root> {
  const root = await unlessMissing(resolvePath(snapshot.node, view, path));
  if (root === undefined) {
    const detail = `the kubelet root does not exist (named by ${rootOrigin})`;
    throw new ReadError('missing', cleanPath(path), detail);
  }
  if (root === '/') throw new ReadError('unsupported', path, 'this cannot be a kubelet root');
  const configuredRoot = cleanPath(path);
  return { root, rootOrigin, ...(configuredRoot === root ? {} : { configuredRoot }) };
}

/** The default roots of common distributions. */
const USUAL_ROOTS = [
  '/var/lib/kubelet',
  '/var/snap/microk8s/common/var/lib/kubelet',
  '/var/lib/k0s/kubelet',
  '/var/lib/origin/openshift.local.volumes',
  '/var/lib/edged',
  '/opt/rke/var/lib/kubelet',
];

async function idleKubelet(
  snapshot: Snapshot,
  rejected: readonly RejectedProcess[],
  rival: number | undefined,
): Promise<Kubelet> {
  const root = await idleRoot(snapshot);
  return defined({
    presence: root ? 'stopped' : 'absent',
    program: root?.root === '/var/lib/edged' ? 'edgecore' : 'kubelet',
    ...(root ?? { root: '/var/lib/kubelet', rootOrigin: 'default' }),
    ...(rival === undefined
      ? {}
      : { contradiction: `process ${rival} may be the kubelet; if it is: --kubelet-pid ${rival}` }),
    runtimeSocket: runtimeSocket(snapshot, undefined),
    readOnlyPort: 0,
    securePort: 0,
    address: LOCAL,
    nodeName: await hostName(snapshot),
    rejected,
    unknowns: [],
  });
}

async function idleRoot(snapshot: Snapshot): Promise<Root | undefined> {
  const { kubeletRoot } = snapshot.settings;
  if (kubeletRoot !== undefined) return resolvedRoot(snapshot, '', kubeletRoot, '--kubelet-root');
  for (const path of USUAL_ROOTS) {
    const root = await unlessMissing(resolvedRoot(snapshot, '', path, 'default'));
    if (root) return root;
  }
  return undefined;
}

function runtimeSocket(snapshot: Snapshot, reported: string | undefined): string | undefined {
  const { runtimeEndpoint } = snapshot.settings;
  if (runtimeEndpoint === undefined) return reported === undefined ? undefined : socketOf(reported);
  const socket = socketOf(runtimeEndpoint);
  if (socket !== undefined) return socket;
  throw new ReadError('unsupported', `--runtime-endpoint ${runtimeEndpoint}`, 'no unix socket');
}

// unix:///run/containerd/containerd.sock, unix:/run/crio/crio.sock, /run/containerd/containerd.sock
const SOCKET = /^(?:unix:(?:\/\/)?)?(\/[\s\S]*)$/;

/** The path in an endpoint; undefined if it is not a Unix socket. */
export function socketOf(endpoint: string): string | undefined {
  const path = SOCKET.exec(endpoint)?.[1];
  return path === undefined ? undefined : cleanPath(path);
}

/** The directory of all pods, as the kubelet sees it. */
export function podsPathOf({ process, root }: Kubelet): string {
  return `${process ? `/proc/${process.pid}/root` : ''}${root}/pods`;
}

const LOCAL = '127.0.0.1';
const EVERYWHERE = new Set(['', '0.0.0.0', '::', '[::]']);

function reachableAddress(address: string | undefined): string {
  return address === undefined || EVERYWHERE.has(address) ? LOCAL : address;
}

/** The kubelet uses the lower-case host name as the node name. */
async function hostName({ node }: Snapshot): Promise<string | undefined> {
  const name = await attempt(node.ask('file', { path: '/proc/sys/kernel/hostname' }));
  return name.known ? name.value.trim().toLowerCase() || undefined : undefined;
}
