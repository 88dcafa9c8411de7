import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { PROCESSES_MAX } from './limits.ts';
import { type OpenFile, type ProcessEntry, type Question, ReadError } from './node-reader.ts';
import { pathInRoot } from './path-in-root.ts';
import { textOf } from './text-codec.ts';
import { IS_DENIED, IS_GONE, unlessFailed } from './unless-failed.ts';

/** Only what the kernel tells without asking the process: never its command line or its memory. */
export function allProcesses(hostRoot: string): readonly ProcessEntry[] {
  const proc = pathInRoot(hostRoot, '/proc', 'follow').toString('utf8');
  // 812
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  if (pids.length > PROCESSES_MAX) {
    throw new ReadError('too-large', '/proc', `more than ${PROCESSES_MAX} processes`);
  }
  return pids.flatMap((pid) => unlessGone(() => processEntry(`${proc}/${pid}`)) ?? []);
}

function processEntry(folder: string): ProcessEntry {
  const stat = textOf(readFileSync(`${folder}/stat`));
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
    cgroups: cgroupsIn(textOf(readFileSync(`${folder}/cgroup`))),
    mountNamespace: unlessFailed(IS_DENIED, () => readlinkSync(`${folder}/ns/mnt`)) ?? null,
  };
}

// 5:memory:/kubepods/burstable/pod6f1c2a9e-.../4f0c...
function cgroupsIn(text: string): readonly string[] {
  const paths = text.split('\n').map((line) => line.split(':').slice(2).join(':'));
  return [...new Set(paths.filter((path) => path !== ''))];
}

/** Links are read and never followed: what they name may be on a dead mount. */
export function openFilesOf(asked: Question<'openFiles'>, hostRoot: string): readonly OpenFile[] {
  const { filesOf, under, mountIds } = asked;
  const proc = pathInRoot(hostRoot, '/proc', 'follow').toString('utf8');
  const folder = `${proc}/${filesOf}`;
  const isHeld = (path: string) => under.some((top) => isBelow(path, top));
  const links = ['cwd', 'root', 'exe', ...descriptorsOf(folder)];
  const held = links.flatMap((by): readonly OpenFile[] => {
    const path = unlessGone(() => textOf(readlinkSync(`${folder}/${by}`, { encoding: 'buffer' })));
    if (path === undefined) return [];
    return isHeld(path) || isOnMount(`${folder}/${by}`, mountIds) ? [{ by, path }] : [];
  });
  return [...held, ...mappedFiles(folder, isHeld)];
}

function descriptorsOf(folder: string): readonly string[] {
  return (unlessGone(() => readdirSync(`${folder}/fd`)) ?? []).map((name) => `fd/${name}`);
}

/** A process of another mount namespace sees the same file under another path. */
function isOnMount(link: string, mountIds: readonly number[]): boolean {
  if (mountIds.length === 0 || !link.includes('/fd/')) return false;
  const info = unlessGone(() => readFileSync(link.replace('/fd/', '/fdinfo/'), 'utf8'));
  // mnt_id:	1042
  const id = /^mnt_id:\s*(\d+)$/m.exec(info ?? '')?.[1];
  return id !== undefined && mountIds.includes(Number(id));
}

function mappedFiles(folder: string, isHeld: (path: string) => boolean): readonly OpenFile[] {
  const maps = unlessGone(() => textOf(readFileSync(`${folder}/maps`))) ?? '';
  // 7f1c0000-7f1c1000 r--s 00000000 fe:01 131                /var/lib/kubelet/pods/6f1c/.../app.db
  const paths = maps.split('\n').flatMap((line) => {
    const start = line.indexOf('/');
    return start < 0 ? [] : [line.slice(start)];
  });
  return [...new Set(paths.filter(isHeld))].map((path) => ({ by: 'maps', path }));
}

function isBelow(path: string, top: string): boolean {
  const clean = path.replace(/ \(deleted\)$/, ''); // The kernel's mark of an unlinked file.
  return clean === top || clean.startsWith(`${top}/`);
}

function unlessGone<T>(read: () => T): T | undefined {
  return unlessFailed(IS_GONE, read);
}
