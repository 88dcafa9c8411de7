import { readlinkSync } from 'node:fs';
import { LINKS_MAX } from './limits.ts';
import { bytesOf, textOf } from './text-codec.ts';

// /proc/812/root/etc/kubernetes/kubelet.yaml
const VIEW_OF_PROCESS = /^\/proc\/(?:\d+|self)\/root(?=\/|$)/;

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
  let resolved: string[] = [];
  let linksLeft = LINKS_MAX;
  while (waiting.length > 0) {
    const name = waiting.shift() as string;
    if (name === '..') {
      resolved.pop();
      continue;
    }
    const here = `${root}/${[...resolved, name].join('/')}`;
    const link = waiting.length === 0 && last === 'keep' ? undefined : linkAt(here);
    // The links of /proc lead into other filesystems and namespaces: only the kernel can follow them.
    if (link === undefined || isInProc(resolved)) {
      resolved.push(name);
      continue;
    }
    linksLeft -= 1;
    if (linksLeft < 0) throw Object.assign(new Error('too many links'), { code: 'ELOOP' });
    if (link.startsWith('/')) resolved = [];
    waiting.unshift(...link.split('/').filter(isName));
  }
  return `/${resolved.join('/')}`;
}

function linkAt(path: string): string | undefined {
  try {
    return textOf(readlinkSync(bytesOf(path), { encoding: 'buffer' }));
  } catch (error) {
    // EINVAL: not a link. Whatever else is wrong with it, the question itself will say.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function isName(part: string): boolean {
  return part !== '' && part !== '.';
}

function isInProc(resolved: readonly string[]): boolean {
  return resolved[0] === 'proc' && resolved.length >= 2;
}
