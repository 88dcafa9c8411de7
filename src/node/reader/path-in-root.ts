import { readlinkSync, statfsSync } from 'node:fs';
import { bytesOf, textOf } from '../../lib/std/text-codec.ts';
import { LINKS_MAX } from './limits.ts';
import { unlessFailed } from './read-file.ts';

// /proc/812/root/etc/kubernetes/kubelet.yaml
const VIEW_OF_PROCESS = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:root|cwd)\//;

/**
 * Where a path of the node lies for us. Below another root (a container that sees the node at
 * /host, or the view of another process) we must follow links ourselves: the kernel would resolve
 * an absolute link against our own root, and show us our own file as the node's.
 */
export function pathInRoot(hostRoot: string, path: string, last: 'follow' | 'keep'): Buffer {
  if (hostRoot === '/' && !VIEW_OF_PROCESS.test(path)) return pathBytes(path);
  const root = hostRoot === '/' ? '' : hostRoot;
  // With a slash behind it, even the last link is meant to be followed.
  const [isFolder, end] = path.endsWith('/') ? [true, '/'] : [false, ''];
  const resolved = resolvedBelow(root, path, isFolder ? 'follow' : last);
  return pathBytes(`${root}${resolved}${resolved === '/' ? '' : end}`);
}

/** The node's /proc, as we see it. */
export function procIn(hostRoot: string): string {
  return pathInRoot(hostRoot, '/proc', 'follow').toString('utf8');
}

/** A path as the functions of `node:fs` take it: names need not be UTF-8. */
export function pathBytes(path: string): Buffer {
  const { buffer, byteOffset, length } = bytesOf(path);
  return Buffer.from(buffer, byteOffset, length);
}

// proc/812/root, proc/812/task/813/cwd, proc/812/fd/3
const LINK_OF_PROCESS = /^(.*\d+)\/(?:task\/\d+\/)?(?:root|cwd|exe|(?:fd|map_files|ns)\/[^/]+)$/;

function resolvedBelow(root: string, path: string, last: 'follow' | 'keep'): string {
  const waiting = path.split('/').filter(isName);
  let here: Place = { names: [], base: 0, top: [] };
  let linksLeft = LINKS_MAX;
  while (waiting.length > 0) {
    const name = waiting.shift() as string;
    if (name === '..') {
      here = above(here);
      continue;
    }
    const names = [...here.names, name];
    const link = waiting.length === 0 && last === 'keep' ? undefined : linkAt(root, names);
    if (link === undefined) {
      here = { ...here, names };
      continue;
    }
    linksLeft -= 1;
    if (linksLeft < 0) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
    const process = LINK_OF_PROCESS.exec(names.join('/'))?.[1];
    if (process !== undefined && isInProc(root, here.names)) {
      // It leads into another filesystem or namespace: only the kernel can follow it.
      here = { names, base: names.length, top: [...process.split('/'), 'root'] };
      continue;
    }
    if (link.startsWith('/')) here = { ...here, names: here.top, base: here.top.length };
    waiting.unshift(...link.split('/').filter(isName));
  }
  return `/${here.names.join('/')}`;
}

interface Place {
  readonly names: readonly string[];
  /** So many of the names were reached by a link that only the kernel can follow. */
  readonly base: number;
  /** Where an absolute link begins: at our root, or at that of the process whose link we followed. */
  readonly top: readonly string[];
}

function above({ names, base, top }: Place): Place {
  if (names.length > base) return { names: names.slice(0, -1), base, top };
  if (names.join('/') === top.join('/')) return { names, base, top };
  // What lies above the end of such a link is not what is written before it.
  return { names: [...names, '..'], base: base + 1, top };
}

/** Anyone may call a folder "proc"; the links of processes are only in a real one. */
function isInProc(root: string, names: readonly string[]): boolean {
  return statfsSync(pathBytes(`${root}/${names.join('/')}`)).type === PROC_FILESYSTEM;
}

/** The magic number of statfs(2). */
const PROC_FILESYSTEM = 0x9fa0;

function linkAt(root: string, names: readonly string[]): string | undefined {
  const path = pathBytes(`${root}/${names.join('/')}`);
  return unlessFailed(IS_NO_LINK, () => textOf(readlinkSync(path, { encoding: 'buffer' })));
}

/**
 * Not a link, or not there, which the question itself will say. What we cannot know to be no link must
 * not be left to the kernel.
 */
const IS_NO_LINK: ReadonlySet<string> = new Set(['EINVAL', 'ENOENT', 'ENOTDIR']);

function isName(part: string): boolean {
  return part !== '' && part !== '.';
}
