import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import type { Snapshot } from '../../model/evidence.ts';
import { type NodeReader, ReadError } from '../../model/node-reader.ts';
import { COMM_CHARACTERS_MAX, PROCESSES_AT_ONCE_MAX, PROCESSES_MAX } from '../limits.ts';
import { baseName, hasFlag, parseCommandLine, subCommand } from '../processes/command-line.ts';
import { unlessMissing } from '../text/file-path.ts';

/** A process that is, or claims to be, a kubelet. */
export interface KubeletProcess {
  readonly pid: number;
  readonly program: string;
  readonly words: readonly string[];
}

/** A process with the name of a kubelet, and why it is not the node's kubelet. */
export interface RejectedProcess {
  readonly pid: number;
  readonly why: string;
}

export interface Found {
  readonly process: KubeletProcess | undefined;
  readonly rejected: readonly RejectedProcess[];
  /**
   * A rejected process that may still be the kubelet: it runs as root in a container, but not in a
   * pod.
   */
  readonly rival?: number | undefined;
}

/** Programs that are or contain a kubelet. rke2 starts a separate kubelet process. */
const PROGRAMS = ['kubelet', 'kubelite', 'k3s', 'k3s-agent', 'k3s-server', 'edgecore', 'hyperkube'];

export const KUBELET_COMMS: ReadonlySet<string> = new Set(
  PROGRAMS.map((program) => program.slice(0, COMM_CHARACTERS_MAX)),
);

/** The kubelet of this node: the process that the user named, or the only candidate. */
export async function findKubelet({ node, settings }: Snapshot): Promise<Found> {
  if (settings.kubeletPid !== undefined) {
    return { process: await namedProcess(node, settings.kubeletPid), rejected: [] };
  }
  const believed: Believed[] = [];
  const rejected: RejectedProcess[] = [];
  let rival: number | undefined;
  for (const candidate of await candidates(node)) {
    const judged = await judge(node, candidate);
    if (judged === undefined) continue;
    if (typeof judged === 'string') {
      const { pid, program } = candidate;
      rejected.push({ pid, why: `process ${pid} calls itself ${program} but ${judged}` });
      if (judged === IN_A_CONTAINER) rival ??= candidate.pid;
    } else {
      believed.push(judged);
    }
  }
  return { process: onlyOne(believed), rejected, rival };
}

async function namedProcess(node: NodeReader, pid: number): Promise<KubeletProcess> {
  const name = await unlessMissing(node.ask('file', { path: `/proc/${pid}/comm` }));
  if (name === undefined) {
    throw new ReadError('missing', `/proc/${pid}`, `no process ${pid}; is --kubelet-pid right?`);
  }
  const comm = name.trimEnd();
  const words = wordsOf(await node.ask('file', { path: `/proc/${pid}/cmdline` }));
  return { pid, words, program: programOf(words, comm) ?? comm };
}

async function candidates(node: NodeReader): Promise<readonly KubeletProcess[]> {
  const names = await unlessMissing(node.ask('folder', { path: '/proc' }));
  if (!names) {
    throw new ReadError('missing', '/proc', 'there is no such directory; is --host-root right?');
  }
  // 812
  const pids = names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((left, right) => left - right);
  if (pids.length > PROCESSES_MAX) throw new ReadError('too-large', '/proc');
  const asked = await mapAtOnce(pids, PROCESSES_AT_ONCE_MAX, (pid) => candidateOf(node, pid));
  return asked.filter((candidate) => candidate !== undefined);
}

/** Reads the name first: unlike the command line, reading it never blocks on the process. */
async function candidateOf(node: NodeReader, pid: number): Promise<KubeletProcess | undefined> {
  const comm = (await unlessMissing(node.ask('file', { path: `/proc/${pid}/comm` })))?.trimEnd();
  if (comm === undefined || !KUBELET_COMMS.has(comm)) return undefined;
  const text = await unlessMissing(node.ask('file', { path: `/proc/${pid}/cmdline` }));
  if (text === undefined) return undefined;
  const words = wordsOf(text);
  const program = programOf(words, comm);
  return program === undefined ? undefined : { pid, words, program };
}

/**
 * k3s hides its arguments: it overwrites them with "/usr/local/bin/k3s server", one word with a
 * space, and pads the rest.
 */
function wordsOf(text: string): readonly string[] {
  const words = parseCommandLine(text);
  const [only = ''] = words;
  const isTitle = words.filter((word) => word.trim() !== '').length === 1;
  // /usr/local/bin/k3s server
  return isTitle && /k3s\S* (server|agent)/.test(only) ? only.trim().split(/\s+/) : words;
}

/** The name of the kubelet program in this process; undefined if it contains none. */
function programOf(words: readonly string[], comm: string): string | undefined {
  // A zombie has an empty command line.
  if (words.length === 0 || hasFlag(words, 'version') || hasFlag(words, 'help')) return undefined;
  const called = baseName(words[0] ?? '');
  // The first word of a script is its interpreter.
  const name = PROGRAMS.includes(called) ? called : comm;
  switch (name) {
    case 'hyperkube':
      return subCommand(words) === 'kubelet' ? 'hyperkube' : undefined;
    case 'k3s':
    case 'k3s-agent':
    case 'k3s-server': {
      const role = name === 'k3s' ? subCommand(words) : name.slice('k3s-'.length);
      const holds = role === 'agent' || (role === 'server' && !hasFlag(words, 'disable-agent'));
      return holds ? 'k3s' : undefined;
    }
    case 'kubelite':
    case 'edgecore':
      return name;
    default:
      return 'kubelet';
  }
}

interface Believed extends KubeletProcess {
  readonly parent: number;
}

const IN_A_CONTAINER = "is not in the node's PID namespace";

/** The accepted process, or why it is rejected; undefined if the process has exited. */
async function judge(
  node: NodeReader,
  candidate: KubeletProcess,
): Promise<Believed | string | undefined> {
  const folder = `/proc/${candidate.pid}`;
  const status = await unlessMissing(node.ask('file', { path: `${folder}/status` }));
  const cgroup = await unlessMissing(node.ask('file', { path: `${folder}/cgroup` }));
  if (status === undefined || cgroup === undefined) return undefined;
  // Uid:	0	0	0	0
  const users = /^Uid:\s*([\d\s]+)$/m.exec(status)?.[1]?.trim().split(/\s+/);
  // PPid:	1
  const parent = /^PPid:\s*(\d+)$/m.exec(status)?.[1];
  if (!users || parent === undefined) throw new ReadError('malformed', `${folder}/status`);
  if (users.some((user) => user !== '0')) return `is not root's (user ${users[0]})`;
  const pod = podCgroup(cgroup);
  if (pod !== undefined) return `runs in a pod (${pod})`;
  const isInside = await isInInnerNamespace(node, folder, status);
  if (isInside) return IN_A_CONTAINER;
  return isInside === undefined ? undefined : { ...candidate, parent: Number(parent) };
}

/** Undefined if the process has exited. */
async function isInInnerNamespace(
  node: NodeReader,
  folder: string,
  status: string,
): Promise<boolean | undefined> {
  // NSpid:	8120	1
  const ids = /^NSpid:\s*([\d\s]+)$/m.exec(status)?.[1]?.trim().split(/\s+/);
  // Its pid in each namespace, from that of /proc inwards: one pid, unless it is in an inner
  // namespace.
  if (ids) return ids.length > 1;
  // Before Linux 4.1 the links must be compared, which requires more privileges over process 1.
  const namespace = await unlessMissing(node.ask('link', { path: `${folder}/ns/pid` }));
  if (namespace === undefined) return undefined;
  return namespace !== (await node.ask('link', { path: '/proc/1/ns/pid' }));
}

// 0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod6f1c2a9e_...slice/cri-containerd-4f0c...scope
// 5:memory:/k8s.io/0f6b...
// 0::/kubelet/kubepods/besteffort/pod6f1c2a9e-.../crio-4f0c...
const POD_CGROUP =
  /kubepods|\/k8s\.io\/[0-9a-f]{64}|cri-containerd[-:][0-9a-f]|crio-[0-9a-f]|\/cri-o|\/isulad\//;

/** The pod cgroup of this process. A plain Docker container is not a pod. */
function podCgroup(text: string): string | undefined {
  return text
    .split('\n')
    .map((line) => line.split(':').slice(2).join(':'))
    .find((path) => POD_CGROUP.test(path));
}

/**
 * A kubelet that is about to run a program exists twice for a moment (fork), and k3s has children
 * with its own name. A child of an accepted process is not a second kubelet.
 */
function onlyOne(believed: readonly Believed[]): KubeletProcess | undefined {
  const pids = new Set(believed.map(({ pid }) => pid));
  const independent = believed.filter(({ parent }) => !pids.has(parent));
  const [first, second] = independent;
  if (second) {
    const list = independent.map(({ pid, program }) => `${pid} (${program})`).join(' and ');
    throw new ReadError(
      'failed',
      '/proc',
      `more than one kubelet runs here, as processes ${list}; name one with --kubelet-pid`,
    );
  }
  return first;
}
