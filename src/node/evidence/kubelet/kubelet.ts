import { attempt } from '../../model/attempt.ts';
import { defineEvidence, type Look } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import { absolutePath, cleanPath, resolvePath, unlessMissing } from '../text/file-path.ts';
import { findKubelet, type KubeletProcess } from './kubelet-process.ts';
import { type ToldSettings, toldSettings } from './kubelet-settings.ts';

/** The kubelet of this node: whether it runs, and all that it was told that matters to us. */
export interface Kubelet {
  /** running: its process was found. stopped: none runs, but here is its root. absent: neither. */
  readonly presence: 'running' | 'stopped' | 'absent';
  /** How it is called: kubelet, k3s, edgecore... */
  readonly program: string;
  readonly process?: ProcessFacts;
  /** Somebody has stopped its process by a signal, and it waits to be continued. */
  readonly isPaused?: true;
  /** Resolved, as the mount table shows it, without a slash at its end. */
  readonly root: string;
  /** Where we learned the root: "/proc/812/cmdline", "default", "--kubelet-root"... */
  readonly rootOrigin: string;
  /** The root as it was named, where that leads over a link: the runtime knows mounts by it. */
  readonly toldRoot?: string;
  /** What speaks against this picture of the kubelet, so that nothing can be called clear by it. */
  readonly contradiction?: string;
  /** Path of the runtime's socket, when the kubelet, or we, were told one. */
  readonly runtimeSocket?: string;
  /** The one that the kubelet itself was told, where --runtime-endpoint names one. */
  readonly ownRuntimeSocket?: string;
  /** 0 when it is off. */
  readonly readOnlyPort: number;
  /** 0 when it is off. */
  readonly securePort: number;
  /** Where to reach it: 127.0.0.1 unless it is bound elsewhere. */
  readonly address: string;
  readonly nodeName?: string;
  /** The folder, or the file, of its static pods, as it was told. */
  readonly staticPodPath?: string;
  /** It takes static pods from an address too. */
  readonly hasStaticPodUrl?: boolean;
  /** Processes that call themselves kubelets, and why they were not believed. */
  readonly disbelieved: readonly string[];
  /** What it was told that we could not read; the defaults stand for it. */
  readonly doubts: readonly string[];
}

interface ProcessFacts {
  readonly pid: number;
  /** Ticks between the boot and its start: with the pid it names the process for ever. */
  readonly startTime: string;
  /** "mnt:[4026531841]" */
  readonly mountNamespace: string;
  readonly workingFolder: string;
  readonly executable: string;
}

export const kubelet = defineEvidence<Kubelet>({
  id: 'kubelet',
  title: 'The kubelet and what it was told',
  collect: async (look) => {
    const { process, disbelieved, rival } = await findKubelet(look);
    return process
      ? runningKubelet(look, process, disbelieved)
      : idleKubelet(look, disbelieved, rival);
  },
});

async function runningKubelet(
  look: Look,
  process: KubeletProcess,
  disbelieved: readonly string[],
): Promise<Kubelet> {
  const { isPaused, ...facts } = await processFacts(look, process.pid);
  const { workingFolder } = facts;
  const told = await attempt(toldSettings({ node: look.node, process, workingFolder }));
  // Whoever names the root needs nothing else of what we could not read.
  if (!told.known && look.settings.kubeletRoot === undefined) throw told.error;
  const settings = told.known ? told.value : { ...NOTHING_TOLD, doubts: [told.why] };
  const socket = runtimeSocket(look, settings.runtimeEndpoint);
  const own =
    look.settings.runtimeEndpoint === undefined
      ? undefined
      : socketOf(settings.runtimeEndpoint ?? '');
  const nodeName = settings.nodeName ?? (await hostName(look));
  return {
    presence: 'running',
    program: process.program,
    process: facts,
    ...(isPaused ? { isPaused } : {}),
    ...(await runningRoot(look, facts, settings)),
    ...(socket === undefined ? {} : { runtimeSocket: socket }),
    ...(own === undefined ? {} : { ownRuntimeSocket: own }),
    // One that is stopped takes connections and answers none: each question would run out of time.
    readOnlyPort: isPaused ? 0 : settings.readOnlyPort,
    securePort: isPaused ? 0 : settings.securePort,
    address: reachableAddress(settings.address),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(settings.staticPodPath === undefined ? {} : { staticPodPath: settings.staticPodPath }),
    ...(settings.hasStaticPodUrl ? { hasStaticPodUrl: true } : {}),
    disbelieved,
    doubts: settings.doubts,
  };
}

const NOTHING_TOLD: ToldSettings = {
  defaultRoots: [],
  readOnlyPort: 0,
  securePort: 10_250,
  doubts: [],
};

async function processFacts(
  { node }: Look,
  pid: number,
): Promise<ProcessFacts & { readonly isPaused: boolean }> {
  const folder = `/proc/${pid}`;
  const stat = await node.ask('file', { path: `${folder}/stat` });
  return {
    pid,
    // 812 (kubelet) T 1 812 812 0 -1 4194560 ...; of one that is traced it is a small letter.
    isPaused: stat.slice(stat.lastIndexOf(')')).startsWith(') T '),
    startTime: parseStartTime(stat, folder),
    mountNamespace: await node.ask('link', { path: `${folder}/ns/mnt` }),
    workingFolder: await node.ask('link', { path: `${folder}/cwd` }),
    executable: await node.ask('link', { path: `${folder}/exe` }),
  };
}

/** Field 22. The name in field 2 may itself hold spaces and brackets, so count from its end. */
function parseStartTime(stat: string, folder: string): string {
  // 812 (kubelet) S 1 812 812 0 -1 4194560 ... 20 0 14 0 1532 1936203776 ...
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTime = fields[22 - 3] ?? '';
  if (!/^\d+$/.test(startTime)) throw new ReadError('malformed', `${folder}/stat`);
  return startTime;
}

type Root = Pick<Kubelet, 'root' | 'rootOrigin' | 'toldRoot' | 'contradiction'>;

async function runningRoot(
  look: Look,
  { pid, workingFolder }: ProcessFacts,
  settings: ToldSettings,
): Promise<Root> {
  const view = `/proc/${pid}/root`;
  const { kubeletRoot } = look.settings;
  const named =
    settings.root === undefined ? undefined : absolutePath(settings.root, workingFolder);
  if (kubeletRoot !== undefined) {
    const [only, ...others] = named === undefined ? settings.defaultRoots : [named];
    const told = others.length === 0 ? only : undefined;
    return overruledRoot(look, view, kubeletRoot, told);
  }
  if (named !== undefined) {
    return resolvedRoot(look, view, named, settings.rootOrigin ?? 'default');
  }
  return resolvedRoot(look, view, await defaultRoot(look, view, settings), 'default');
}

/** A person may know better than the kubelet's own words, but then they must be told of them. */
async function overruledRoot(
  look: Look,
  view: string,
  kubeletRoot: string,
  told: string | undefined,
): Promise<Root> {
  const given = await resolvedRoot(look, view, kubeletRoot, '--kubelet-root');
  if (told === undefined) return given;
  const theirs = await unlessMissing(resolvePath(look.node, view, told));
  if (theirs === undefined || theirs === given.root) return given;
  const contradiction = `--kubelet-root is ${given.root}, but the kubelet that runs here has ${theirs}`;
  return { ...given, contradiction };
}

/** Where the default has changed over time, the root is the one that holds pods. */
async function defaultRoot(look: Look, view: string, settings: ToldSettings): Promise<string> {
  const [only = '', ...others] = settings.defaultRoots;
  if (others.length === 0) return only;
  const inUse: string[] = [];
  for (const root of settings.defaultRoots) {
    const pods = look.node.ask('status', { path: `${view}${root}/pods` });
    if (await unlessMissing(pods)) inUse.push(root);
  }
  const [first, second] = inUse;
  if (first !== undefined && second === undefined) return first;
  const list = settings.defaultRoots.join(' or ');
  throw new ReadError('failed', list, 'which is the kubelet root? Name it with --kubelet-root');
}

async function resolvedRoot(
  look: Look,
  view: string,
  path: string,
  rootOrigin: string,
): Promise<Root> {
  const root = await unlessMissing(resolvePath(look.node, view, path));
  if (root === undefined) {
    const detail = `the kubelet root does not exist (named by ${rootOrigin})`;
    throw new ReadError('missing', cleanPath(path), detail);
  }
  if (root === '/') throw new ReadError('unsupported', path, 'this can be no kubelet root');
  const toldRoot = cleanPath(path);
  return { root, rootOrigin, ...(toldRoot === root ? {} : { toldRoot }) };
}

/** Where kubelets of the usual distributions keep their pods. */
const USUAL_ROOTS = [
  '/var/lib/kubelet',
  '/var/snap/microk8s/common/var/lib/kubelet',
  '/var/lib/k0s/kubelet',
  '/var/lib/origin/openshift.local.volumes',
  '/var/lib/edged',
  '/opt/rke/var/lib/kubelet',
];

async function idleKubelet(
  look: Look,
  disbelieved: readonly string[],
  rival: number | undefined,
): Promise<Kubelet> {
  const root = await idleRoot(look);
  const socket = runtimeSocket(look, undefined);
  const nodeName = await hostName(look);
  return {
    presence: root ? 'stopped' : 'absent',
    program: root?.root === '/var/lib/edged' ? 'edgecore' : 'kubelet',
    ...(root ?? { root: '/var/lib/kubelet', rootOrigin: 'default' }),
    ...(rival === undefined
      ? {}
      : { contradiction: `process ${rival} may be the kubelet; if it is: --kubelet-pid ${rival}` }),
    ...(socket === undefined ? {} : { runtimeSocket: socket }),
    readOnlyPort: 0,
    securePort: 0,
    address: LOCAL,
    ...(nodeName === undefined ? {} : { nodeName }),
    disbelieved,
    doubts: [],
  };
}

async function idleRoot(look: Look): Promise<Root | undefined> {
  const { kubeletRoot } = look.settings;
  if (kubeletRoot !== undefined) return resolvedRoot(look, '', kubeletRoot, '--kubelet-root');
  for (const path of USUAL_ROOTS) {
    const root = await unlessMissing(resolvePath(look.node, '', path));
    if (root !== undefined) return resolvedRoot(look, '', path, 'default');
  }
  return undefined;
}

function runtimeSocket(look: Look, told: string | undefined): string | undefined {
  const { runtimeEndpoint } = look.settings;
  if (runtimeEndpoint === undefined) return told === undefined ? undefined : socketOf(told);
  const socket = socketOf(runtimeEndpoint);
  if (socket !== undefined) return socket;
  throw new ReadError('unsupported', `--runtime-endpoint ${runtimeEndpoint}`, 'no unix socket');
}

// unix:///run/containerd/containerd.sock, unix:/run/crio/crio.sock, /run/containerd/containerd.sock
const SOCKET = /^(?:unix:(?:\/\/)?)?(\/[\s\S]*)$/;

/** The path in an endpoint; undefined when it names no Unix socket. */
export function socketOf(endpoint: string): string | undefined {
  const path = SOCKET.exec(endpoint)?.[1];
  return path === undefined ? undefined : cleanPath(path);
}

const LOCAL = '127.0.0.1';
const EVERYWHERE = new Set(['', '0.0.0.0', '::', '[::]']);

function reachableAddress(address: string | undefined): string {
  return address === undefined || EVERYWHERE.has(address) ? LOCAL : address;
}

/** The kubelet calls its node by the host's name in lower case. */
async function hostName({ node }: Look): Promise<string | undefined> {
  const name = await attempt(node.ask('file', { path: '/proc/sys/kernel/hostname' }));
  return name.known ? name.value.trim().toLowerCase() || undefined : undefined;
}
