import { readlinkSync, statfsSync } from 'node:fs';
import { LINKS_MAX } from './limits.ts';
import { bytesOf, textOf } from './text-codec.ts';

// /proc/812/root/etc/kubernetes/kubelet.yaml
const VIEW_OF_PROCESS = /^\/proc\/(?:\d+|self)\/root(?=\/)/;

/**
 * Where a path of the node lies for us. Below another root (a container that sees the node at
 * /host, or the view of another process) links must be followed by hand: the kernel would resolve
 * an absolute link against our own root, and show us our own file as the node's.
 */
export function pathInRoot(hostRoot: string, path: string, last: 'follow' | 'keep'): Buffer {
  const view = VIEW_OF_PROCESS.exec(path)?.[0] ?? '';
  const root = hostRoot === '/' ? view : `${hostRoot}${view}`;
  if (root === '') return bytesOf(path);
  return bytesOf(`${root}${resolvedBelow(root, path.slice(view.length), last)}`);
}

function resolvedBelow(root: string, path: string, last: 'follow' | 'keep'): string {
  const waiting = path.split('/').filter(isName);
  let resolved: readonly string[] = [];
  /** The part that ".." cannot leave: more than the root once a link has led to a process's view. */
  let base: readonly string[] = [];
  let linksLeft = LINKS_MAX;
  while (waiting.length > 0) {
    const name = waiting.shift() as string;
    if (name === '..') {
      resolved = parentOf(resolved, base);
      continue;
    }
    const next = [...resolved, name];
    const link = waiting.length === 0 && last === 'keep' ? undefined : linkAt(root, next);
    if (link === undefined) {
      resolved = next;
      continue;
    }
    linksLeft -= 1;
    if (linksLeft < 0) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
    const jump = isOfProc(root, next) ? MAGIC.exec(next.join('/')) : undefined;
    if (jump) {
      resolved = next;
      if (jump[2] === 'root') base = next;
      continue;
    }
    if (link.startsWith('/')) {
      base = rootOf(resolved, base);
      resolved = base;
    }
    waiting.unshift(...link.split('/').filter(isName));
  }
  return `/${resolved.join('/')}`;
}

// proc/812/root, proc/812/task/813/cwd, proc/812/fd/3
const MAGIC = /^(?:.*\/)?(proc\/\d+)\/(?:task\/\d+\/)?(root|cwd|exe|(?:fd|map_files|ns)\/[^/]+)$/;

/**
 * The links of a process in /proc lead into other filesystems and namespaces: only the kernel can
 * follow them, and only a real /proc has them. Anyone may call a folder "proc".
 */
function isOfProc(root: string, names: readonly string[]): boolean {
  const folder = `${root}/${names.slice(0, -1).join('/')}`;
  return MAGIC.test(names.join('/')) && statfsSync(bytesOf(folder)).type === PROC_FILESYSTEM;
}
const PROC_FILESYSTEM = 0x9fa0;

function parentOf(resolved: readonly string[], base: readonly string[]): readonly string[] {
  if (resolved.length <= base.length) return base;
  // What lies above the end of such a link is not what is written before it.
  const isBeyondLink = resolved.at(-1) === '..' || MAGIC.test(resolved.join('/'));
  return isBeyondLink ? [...resolved, '..'] : resolved.slice(0, -1);
}

/** Where an absolute link begins that was found here: at the root of the process we came through. */
function rootOf(resolved: readonly string[], base: readonly string[]): readonly string[] {
  const through = resolved.findLastIndex((_, index) => {
    return index >= base.length && MAGIC.test(resolved.slice(0, index + 1).join('/'));
  });
  if (through < 0) return base;
  const process = MAGIC.exec(resolved.slice(0, through + 1).join('/'))?.[1] ?? '';
  return [];
}
