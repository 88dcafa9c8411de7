import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { defined } from '../../lib/std/defined.ts';
import { textOf } from '../../lib/std/text-codec.ts';
import {
  type OpenFile,
  type ProcessEntry,
  type Question,
  ReadError,
} from '../model/node-reader.ts';
import { PROCESSES_MAX } from './limits.ts';
import { procIn } from './path-in-root.ts';
import { IS_DENIED, tableText, unlessFailed, unlessGone } from './read-file.ts';

/** Only what the kernel shows without asking the process: never its command line or its memory. */
export function allProcesses(hostRoot: string): readonly ProcessEntry[] {
  const proc = procIn(hostRoot);
  return pidsIn(proc).flatMap((pid) => unlessGone(() => processEntry(proc, pid)) ?? []);
}

export function pidsIn(proc: string): readonly string[] {
  // 812
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  if (pids.length <= PROCESSES_MAX) return pids;
  throw new ReadError('too-large', '/proc', `more than ${PROCESSES_MAX} processes`);
}

function processEntry(proc: string, pid: string): ProcessEntry | undefined {
  const first = entryOf(`${proc}/${pid}`);
  if (!hasEnded(first)) return { ...first, ...homeOf(`${proc}/${pid}`) };
  const folder = livingFolder(`${proc}/${pid}`);
  if (folder === undefined) return undefined;
  const { pid: thread, state } = entryOf(folder);
  return { ...first, state, ...homeOf(folder), thread };
}

/** A process whose first thread has ended lives on in the others, which share its files and mounts. */
function livingFolder(folder: string): string | undefined {
  if (!hasEnded(entryOf(folder))) return folder;
  const tids = unlessGone(() => readdirSync(`${folder}/task`)) ?? [];
  return tids
    .map((tid) => `${folder}/task/${tid}`)
    .find((one) => unlessGone(() => !hasEnded(entryOf(one))));
}

function hasEnded({ state }: Pick<ProcessEntry, 'state'>): boolean {
  return state === 'Z' || state === 'X';
}

function entryOf(folder: string): Omit<ProcessEntry, 'cgroups' | 'mountNamespace'> {
  const stat = tableText(`${folder}/stat`);
  // 812 (kubelet) S 1 812 812 0 -1 4194560 ... 20 0 14 0 1532 1936203776 ...
  const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')];
  const fields = stat.slice(close + 2).split(' ');
  const startTime = fields[22 - 3];
  if (open < 0 || startTime === undefined) throw new ReadError('malformed', `${folder}/stat`);
  return {
    pid: Number(stat.slice(0, open - 1)),
    parent: Number(fields[1]),
    name: stat.slice(open + 1, close),
    state: fields[0] ?? '?',
    startTime,
  };
}

function homeOf(folder: string): Pick<ProcessEntry, 'cgroups' | 'mountNamespace'> {
  return {
    cgroups: cgroupsIn(tableText(`${folder}/cgroup`)),
    mountNamespace: unlessFailed(IS_DENIED, () => readlinkSync(`${folder}/ns/mnt`)) ?? null,
  };
}

// 5:memory:/kubepods/burstable/pod6f1c2a9e-.../4f0c...
export function cgroupsIn(text: string): readonly string[] {
  const paths = text.split('\n').map((line) => line.split(':').slice(2).join(':'));
  return [...new Set(paths.filter((path) => path !== ''))];
}

/** Links are read and never followed: what they name may be on a dead mount. */
export function openFilesOf(asked: Question<'openFiles'>, hostRoot: string): readonly OpenFile[] {
  const { filesOf, under, mountIds } = asked;
  const folder = unlessGone(() => livingFolder(`${procIn(hostRoot)}/${filesOf}`));
  if (folder === undefined) return [];
  const links = ['cwd', 'root', 'exe', ...descriptorsOf(folder)].flatMap((by) => {
    const path = unlessGone(() => textOf(readlinkSync(`${folder}/${by}`, { encoding: 'buffer' })));
    return path === undefined ? [] : [{ by, path }];
  });
  const mapped = mappedFiles(folder);
  if (mountIds === 'each') {
    const files = [
      ...links.flatMap((link) => ofMount(folder, link) ?? []),
      ...ownNamespacesOf(folder),
    ];
    return [
      ...onceEach(files, ({ by, mount, path }) => mount ?? (by.startsWith('fd') ? path : by)),
      ...onceEach(mapped, ({ device }) => device),
    ];
  }
  const isHeld = ({ path }: OpenFile) => under.some((top) => isBelow(path, top));
  const isOnMount = ({ by }: OpenFile) =>
    mountIds.length > 0 && mountIds.includes(descriptorFacts(folder, by).mount ?? -1);
  const held = links.filter((link) => isHeld(link) || isOnMount(link));
  return [
    ...held,
    ...onceEach(mapped.filter(isHeld), ({ path }) => path).map(({ by, path }) => ({ by, path })),
  ];
}

/** A thread may have left the mount namespace of its process, and is then alone in another. */
function ownNamespacesOf(folder: string): readonly OpenFile[] {
  const namespaceOf = (place: string) =>
    unlessFailed(IS_DENIED, () => unlessGone(() => readlinkSync(`${place}/ns/mnt`)));
  const common = namespaceOf(folder);
  return (unlessGone(() => readdirSync(`${folder}/task`)) ?? []).flatMap((tid) => {
    const path = namespaceOf(`${folder}/task/${tid}`);
    return path === undefined || path === common ? [] : [{ by: `fd of thread ${tid}`, path }];
  });
}

/** Not what has no place on any filesystem: sockets, pipes, events. */
function ofMount(folder: string, { by, path }: OpenFile): OpenFile | undefined {
  if (!by.startsWith('fd/') || path.startsWith('mnt:[')) return { by, path };
  if (!path.startsWith('/')) return undefined;
  const { mount, inode } = descriptorFacts(folder, by);
  return mount === undefined ? undefined : defined({ by, path, mount, inode });
}

function onceEach(
  files: readonly OpenFile[],
  keyOf: (file: OpenFile) => string | number | undefined,
): readonly OpenFile[] {
  return [...new Map(files.toReversed().map((file) => [keyOf(file), file])).values()].toReversed();
}

function descriptorsOf(folder: string): readonly string[] {
  return (unlessGone(() => readdirSync(`${folder}/fd`)) ?? []).map((name) => `fd/${name}`);
}

/** A process of another mount namespace sees the same file under another path. */
function descriptorFacts(
  folder: string,
  by: string,
): { readonly mount?: number; readonly inode?: string } {
  if (!by.startsWith('fd/')) return {};
  const info = unlessGone(() => readFileSync(`${folder}/${by.replace('fd', 'fdinfo')}`, 'utf8'));
  // mnt_id:	1042
  const id = /^mnt_id:\s*(\d+)$/m.exec(info ?? '')?.[1];
  // ino:	1180417, since Linux 5.14
  const inode = /^ino:\s*(\d+)$/m.exec(info ?? '')?.[1];
  return defined({ mount: id === undefined ? undefined : Number(id), inode });
}

function mappedFiles(folder: string): readonly OpenFile[] {
  const maps = unlessGone(() => tableText(`${folder}/maps`)) ?? '';
  // 7f1c0000-7f1c1000 r--s 00000000 fe:01 131                /var/lib/kubelet/pods/6f1c/.../app.db
  return maps.split('\n').flatMap((line) => {
    const start = line.indexOf('/');
    const [major = '', minor = ''] = line.split(' ', 4)[3]?.split(':') ?? [];
    if (start < 0) return [];
    const device = `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`;
    return [{ by: 'maps', path: line.slice(start), device }];
  });
}

function isBelow(path: string, top: string): boolean {
  const clean = path.replace(/ \(deleted\)$/, ''); // The kernel's mark of an unlinked file.
  return clean === top || clean.startsWith(`${top}/`);
}
