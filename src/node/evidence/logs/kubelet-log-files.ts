import { attempt, type Snapshot, type UnknownReason } from '../../model/evidence.ts';
import { type Kubelet, kubelet } from '../kubelet/kubelet.ts';
import { parseArgumentsFile } from '../kubelet/kubelet-config.ts';
import { LOG_FILES_MAX } from '../limits.ts';
import { baseName, flagValue, parseCommandLine } from '../processes/command-line.ts';
import { absolutePath, unlessMissing } from '../text/file-path.ts';

/** A file that the kubelet logs to, or logged to before. */
export interface LogFile {
  /** The path that we read: "/proc/812/fd/2", "/proc/812/root/var/log/kubelet.log". */
  readonly path: string;
  /** The path for the user: "/var/log/kubelet.log". */
  readonly origin: string;
  /** The path of its directory for us; rotated files are beside it. */
  readonly folder: string;
  /** Whether rotated files with other names may be beside it. */
  readonly isRotated: boolean;
}

/** The files that a running kubelet writes to, oldest first; empty if it logs elsewhere. */
export async function logFiles(
  snapshot: Snapshot,
  unread: UnknownReason[],
): Promise<readonly LogFile[]> {
  const found = await readOrNote(unread, snapshot.of(kubelet));
  if (!found?.process) return [];
  const { pid, workingFolder } = found.process;
  const view = `/proc/${pid}/root`;
  const args = (await readOrNote(unread, wordsOf(snapshot, found))) ?? [];
  const folder = flagValue(args, 'log-dir');
  // k3s names this flag "--log".
  const file = flagValue(args, 'log-file', 'log');
  const files: LogFile[] = [];
  if (folder) {
    const path = absolutePath(folder, workingFolder);
    files.push(...(await filesOfKlog(snapshot, { view, path, program: found.program }, unread)));
  }
  if (file) files.push(seen(view, absolutePath(file, workingFolder)));
  if (found.program === 'edgecore') files.push(seen(view, EDGECORE_LOG));
  files.push(...(await openFiles(snapshot, pid, unread)));
  return [...new Map(files.map((each) => [each.origin, each])).values()];
}

/** The value; undefined if the read failed, which is then noted in `unread`. */
async function readOrNote<T>(unread: UnknownReason[], read: Promise<T>): Promise<T | undefined> {
  const answer = await attempt(read);
  if (answer.known) return answer.value;
  unread.push(answer);
  return undefined;
}

const EDGECORE_LOG = '/var/log/kubeedge/edgecore.log';

/** Default paths of some distributions, for a kubelet that does not run or sets no file. */
export function usualFiles(): readonly LogFile[] {
  return ['/var/log/kubelet.log', '/var/log/kubernetes/kubelet.INFO', EDGECORE_LOG].map((path) =>
    seen('', path),
  );
}

function seen(view: string, path: string): LogFile {
  return {
    path: `${view}${path}`,
    origin: path,
    folder: `${view}${folderOf(path)}`,
    isRotated: true,
  };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** The words that contain the kubelet's flags. */
async function wordsOf(
  { node }: Snapshot,
  { program, process }: Kubelet,
): Promise<readonly string[]> {
  const folder = `/proc/${process?.pid}`;
  const args = parseCommandLine(await node.ask('file', { path: `${folder}/cmdline` }));
  const path = program === 'kubelite' ? flagValue(args, 'kubelet-args-file') : undefined;
  if (path === undefined) return args;
  return parseArgumentsFile(await node.ask('file', { path: `${folder}/root${path}` }), path);
}

// kubelet.node-1.root.log.INFO.20260330-155827.4130850
const OF_KLOG = /^[\w-]+\..+\.log\.INFO\.(\d{8}-\d{6})\.\d+$/;

/** klog creates a file at every start and every 1.8 GB; "kubelet.INFO" links to the newest. */
async function filesOfKlog(
  { node }: Snapshot,
  { view, path, program }: { view: string; path: string; program: string },
  unread: UnknownReason[],
): Promise<readonly LogFile[]> {
  const read = unlessMissing(node.ask('folder', { path: `${view}${path}` }));
  const names = (await readOrNote(unread, read)) ?? [];
  const dated = names
    .flatMap((name) => {
      const date = name.startsWith(`${program}.`) ? OF_KLOG.exec(name)?.[1] : undefined;
      return date === undefined ? [] : [{ name, date }];
    })
    .toSorted((left, right) => (left.date < right.date ? -1 : 1));
  const chosen = dated.slice(-LOG_FILES_MAX).map(({ name }) => name);
  const last = chosen.length > 0 ? chosen : names.filter((name) => name === `${program}.INFO`);
  return last.map((name) => ({ ...seen(view, `${path}/${name}`), isRotated: false }));
}

/** The files of stdout and stderr. A journal is a socket, and the log of a runtime a pipe. */
async function openFiles(
  { node }: Snapshot,
  pid: number,
  unread: UnknownReason[],
): Promise<readonly LogFile[]> {
  const files: LogFile[] = [];
  for (const fd of [1, 2]) {
    const path = `/proc/${pid}/fd/${fd}`;
    const target = (await readOrNote(unread, unlessMissing(node.ask('link', { path })))) ?? '';
    if (!target.startsWith('/') || target.startsWith('/dev/')) continue;
    // "/var/log/kubelet.log (deleted)" was rotated, but the kubelet still writes to it.
    const origin = target.replace(/ \(deleted\)$/, '');
    files.push({ ...seen(`/proc/${pid}/root`, origin), path, origin: target });
  }
  return files;
}

// kubelet.log.1, kubelet.log-20260330
const ROTATED = /^[.-](\d{1,3}|\d{8}(?:[-.T]?\d{0,6}))$/;

/** The newest rotated part of a file, as named by logrotate and similar programs. */
export async function rotatedBefore(
  snapshot: Snapshot,
  file: LogFile,
): Promise<readonly LogFile[]> {
  const base = baseName(file.origin);
  const names = (await unlessMissing(snapshot.node.ask('folder', { path: file.folder }))) ?? [];
  const ends = names.flatMap((name) =>
    name.startsWith(base) ? (ROTATED.exec(name.slice(base.length))?.[1] ?? []) : [],
  );
  // ".1" is the newest number, and the highest date is the newest date.
  const newest = ends.includes('1')
    ? '1'
    : ends
        .filter((end) => end.length >= 8)
        .toSorted()
        .at(-1);
  const name = names.find((each) => each === `${base}.${newest}` || each === `${base}-${newest}`);
  if (newest === undefined || name === undefined) return [];
  const origin = `${folderOf(file.origin)}/${name}`;
  return [{ path: `${file.folder}/${name}`, origin, folder: file.folder, isRotated: false }];
}

/** The process name, if it differs from the program. */
const COMMS: Readonly<Record<string, readonly string[]>> = {
  k3s: ['k3s', 'k3s-server', 'k3s-agent'],
  hyperkube: ['kubelet', 'hyperkube'],
};

const UNITS: Readonly<Record<string, readonly string[]>> = {
  k3s: ['k3s.service', 'k3s-agent.service'],
  kubelite: ['snap.microk8s.daemon-kubelite.service'],
  edgecore: ['edgecore.service'],
};

// 0::/system.slice/snap.microk8s.daemon-kubelite.service
const UNIT = /\/([^/\n]+\.service)$/gm;

/** Every unit that may run the kubelet of a node where none runs, the most likely first. */
export const KUBELET_UNITS: readonly string[] = [
  ...['kubelet.service', 'k3s.service', 'k3s-agent.service', 'rke2-agent.service'],
  ...['rke2-server.service', 'k0sworker.service', 'k0scontroller.service'],
  ...['snap.microk8s.daemon-kubelite.service', 'edgecore.service'],
];

/** The journal entries of the kubelet, and of systemd about it. */
export async function journalOf(snapshot: Snapshot): Promise<readonly string[]> {
  const known = await attempt(snapshot.of(kubelet));
  const { program, process } = known.known ? known.value : { program: 'kubelet' };
  const units = new Set(UNITS[program] ?? ['kubelet.service', 'rke2-agent.service']);
  if (process) {
    const cgroup = await attempt(
      snapshot.node.ask('file', { path: `/proc/${process.pid}/cgroup` }),
    );
    for (const [, unit = ''] of cgroup.known ? cgroup.value.matchAll(UNIT) : []) units.add(unit);
  }
  return [
    ...[...units].flatMap((unit) => [`_SYSTEMD_UNIT=${unit}`, `UNIT=${unit}`]),
    ...(COMMS[program] ?? [program]).map((comm) => `_COMM=${comm}`),
  ];
}
