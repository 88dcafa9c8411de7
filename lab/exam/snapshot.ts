import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTimeOf } from '../../src/lib/std/start-time-of.ts';
import { unescapeOctal } from '../../src/lib/std/unescape-octal.ts';
import { mountLine, mountTablesHere } from '../mount-tables.ts';
import { PLACES } from '../places.ts';
import type { ListedContainer, ListedPod, PracticeNode } from '../practice-node.ts';
import { allProcesses, hasEnded } from '../process-mark.ts';
import { unlessGone } from '../unless-gone.ts';
import type { Snapshot } from './compare.ts';
import { filesIn } from './files.ts';
import { COMMAND_LINE_MAX, RUNTIME_ANSWER_MS, YOUNG_MS } from './limits.ts';

/** The state directory of kubediag: journal and bundles. */
export const STATE_FOLDER = '/var/lib/kubediag';

/** Directories that a repair could change by mistake, and how much of each is compared. */
const FOLDERS = [
  { path: '/', depth: 1, detail: 'sizes' },
  { path: '/bin', depth: 1, detail: 'sizes' },
  { path: '/usr', depth: 1, detail: 'sizes' },
  { path: '/usr/bin', depth: 1, detail: 'sizes' },
  { path: '/usr/sbin', depth: 1, detail: 'sizes' },
  { path: '/usr/local', depth: 3, detail: 'sizes' },
  { path: '/etc', depth: 9, detail: 'contents' },
  { path: '/opt', depth: 1, detail: 'sizes' },
  { path: '/run', depth: 2, detail: 'names' },
  { path: '/tmp', depth: 9, detail: 'names' },
  { path: '/var/lib', depth: 1, detail: 'names' },
  // A repair writes a journal and bundles there; a check must not.
  { path: STATE_FOLDER, depth: 9, detail: 'names' },
  { path: PLACES.podLogs, depth: 9, detail: 'names' },
  // The kubelet writes its own records all the time, but not the directories of pods.
  { path: PLACES.kubeletRoot, depth: 1, detail: 'names' },
  { path: `${PLACES.kubeletRoot}/pods`, depth: 99, detail: 'contents' },
  { path: `${PLACES.kubeletRoot}/plugins`, depth: 99, detail: 'contents' },
  { path: `${PLACES.kubeletRoot}/kubediag-set-aside`, depth: 99, detail: 'contents' },
] as const;

/** Lines that are not compared. */
const ASIDE: readonly ((line: string) => boolean)[] = [
  // Files of the lab, of the runtime, and of the mount command.
  (line) => /^file \/run\/((kubediag-lab|containerd|runc|mount)\/|\.maker-said )/.test(line),
  // A new build of this program is no change of the node.
  (line) => line.startsWith(`mount ${PLACES.executable} `),
  // The root filesystem of a container; the container has a line of its own.
  (line) => line.startsWith('mount /run/containerd/io.containerd.runtime.v2.task/'),
  // A real kubelet writes the hosts file of a container if it already knows the pod's address;
  // otherwise the runtime does: "file .../etc-hosts file 0644", "mount in wait: /etc/hosts /pods..."
  (line) => /(^file \S+\/etc-hosts|^mount in .*: \/etc\/hosts) /.test(line),
  // The shell that sets up a container: a busy machine takes longer than a young process has.
  (line) => line.startsWith('process sh -c \nread -r _\n'),
];

/**
 * Everything on a practice node that a repair could change by mistake: mounts in every namespace,
 * processes, files, pods and containers. Runs on the node, and touches no mount that may hang.
 */
export async function snapshotOf({ runtime }: PracticeNode): Promise<Snapshot> {
  const tables = mountTablesHere();
  const own = [...tables.values()][0] ?? [];
  const things = await thingsOf(runtime);
  const processes = processesHere().map((each) => ({ ...each, words: withPod(each, things) }));
  const files = FOLDERS.map((folder) => filesIn(folder, servedTargets(own)));
  const lines = [
    ...[...tables].flatMap(([namespace, table], at) =>
      at === 0 ? table.map(mountLine) : linesInside(namespace, table, processes),
    ),
    ...processes.map(({ words }) => `process ${words}`),
    ...files.flatMap((folder) => folder.lines),
    ...runtimeLines(things),
  ];
  const isAside = (line: string) => ASIDE.some((isOfThese) => isOfThese(line));
  return {
    lines: lines
      .filter((line) => !isAside(line))
      .map(withoutAccident)
      .filter(onceEach())
      .toSorted(),
    pods: things.pods.map((pod) => ({ name: `${pod.namespace}/${pod.name}`, uid: pod.uid })),
    hasServedMount: files.some((folder) => folder.hasServedMount),
  };
}

/** "cat of pod UID": all containers run the same program, so their pods distinguish them. */
function withPod({ words, cgroups }: NodeProcess, { pods, containers }: Things): string {
  const isOf = (pod: ListedPod) => {
    const inside = containers.filter(({ podId }) => podId === pod.id);
    // A container that the kubelet did not create may have no UID.
    const names = [pod.id, pod.uid, ...inside.map(({ id }) => id)].filter(Boolean);
    return names.some((name) => cgroups.includes(name));
  };
  const pod = pods.find(isOf);
  return pod ? `${words} of pod ${pod.uid}` : words;
}

/** The mounts of a process with its own mount namespace, such as a container; none if it exits. */
function linesInside(
  namespace: string,
  table: readonly string[],
  processes: readonly NodeProcess[],
): readonly string[] {
  const owner = processes.find((each) => each.mountNamespace === namespace);
  return owner
    ? table.map((line) => mountLine(line).replace('mount', `mount in ${owner.words}:`))
    : [];
}

/** Mounts whose server may not answer. */
function servedTargets(table: readonly string[]): ReadonlySet<string> {
  const served = table.map(mountLine).filter((line) => / (fuse|nfs|cifs|9p|ceph)/.test(line));
  return new Set(served.map((line) => unescapeOctal(line.split(' ')[1] ?? '')));
}

/** The attempt is not compared: a kubelet retries, and removes earlier attempts. */
const NOT_RUNNING = 'attempt of before, not running';
const A_LOG = 'log of an attempt';

// file /var/lib/kubelet/pods/UID/containers/app/ID file 0644 0:0 0 bytes
const LAST_LINES = /^file \S+\/containers\/[^/ ]+\/ID /;

/** One line represents all attempts of the same container. */
function onceEach(): (line: string) => boolean {
  const seen = new Set<string>();
  return (line) => {
    const isTried = line.endsWith(NOT_RUNNING) || line.endsWith(A_LOG) || LAST_LINES.test(line);
    const isAgain = isTried && seen.has(line);
    seen.add(line);
    return !isAgain;
  };
}

interface Things {
  readonly isSilent: boolean;
  readonly pods: readonly ListedPod[];
  readonly containers: readonly ListedContainer[];
}

/** Empty if a break has killed or stopped the runtime. */
async function thingsOf(runtime: PracticeNode['runtime']): Promise<Things> {
  const asked = Promise.all([runtime.pods(), runtime.containers()]).catch(() => undefined);
  const answered = await Promise.race([asked, sleep(RUNTIME_ANSWER_MS, undefined, { ref: false })]);
  if (!answered) return { pods: [], containers: [], isSilent: true };
  const [pods, containers] = answered;
  return { pods, containers, isSilent: false };
}

function runtimeLines({ pods, containers, isSilent }: Things): readonly string[] {
  if (isSilent) return ['runtime does not answer'];
  const nameOf = (podId: string) => {
    const pod = pods.find(({ id }) => id === podId);
    return pod ? `${pod.namespace}/${pod.name}` : 'no pod';
  };
  return [
    ...pods.map((pod) => `pod ${nameOf(pod.id)} ${pod.uid} ${pod.isReady ? 'ready' : 'not ready'}`),
    ...containers.map(
      ({ podId, name, attempt, state }) =>
        `container ${nameOf(podId)} ${name} ${state === 'running' ? `attempt ${attempt} running` : NOT_RUNNING}`,
    ),
  ];
}

/**
 * Removes the parts that differ each time an object is created: ids, times in directory names, the
 * termination log of a container, the number of its root, and the mode of directories that two
 * kubelet threads create in random order.
 */
function withoutAccident(line: string): string {
  return line
    .replace(/\b[0-9a-f]{64}\b/g, 'ID')
    .replace(/^(file \/var\/log\/pods\/\S+\/)\d+\.log .*/, `$1${A_LOG}`)
    .replace(/(\/containers\/[^/ ]+\/)[0-9a-f]{8}\b/g, '$1ID')
    .replace(/(\/snapshots\/)\d+\b/g, '$1ID')
    .replace(/(\/pods\/[^/ ]+(?:\/volumes)? directory) 075[05]/, '$1 RIGHTS')
    .replace(/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g, '..TIME');
}

interface NodeProcess {
  readonly pid: number;
  /** Its command line, without the directory of its program. */
  readonly words: string;
  readonly mountNamespace: string;
  /** Its cgroups, which name the container or its pod. */
  readonly cgroups: string;
}

/** Clock ticks per second in /proc: the same on every architecture. */
const TICKS_PER_SECOND = 100;

/** The long-running processes: not this one, no young ones, no zombies. */
function processesHere(): readonly NodeProcess[] {
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  return allProcesses().flatMap((pid) => unlessGone(() => processAt(pid, uptimeMs)) ?? []);
}

function processAt(pid: number, uptimeMs: number): readonly NodeProcess[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const begunMs = ((startTimeOf(stat) ?? 0) / TICKS_PER_SECOND) * 1000;
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  // /usr/bin/containerd-shim-runc-v2 -namespace k8s.io: its directory differs between machines.
  const words = line.replace(/^\S*\//, '');
  const isDead = words === '' || hasEnded(stat);
  if (isDead || pid === process.pid || uptimeMs - begunMs < YOUNG_MS) return [];
  const mountNamespace = readlinkSync(`/proc/${pid}/ns/mnt`);
  const cgroups = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  return [{ pid, words: words.slice(0, COMMAND_LINE_MAX), mountNamespace, cgroups }];
}
