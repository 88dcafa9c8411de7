import { attempt } from '../../model/evidence.ts';
import { type FileStatus, type NodeReader, ReadError } from '../../model/node-reader.ts';
import { LINKS_MAX } from '../limits.ts';

/** Removes "//", "/./" and a trailing slash. ".." stays, because only the node can resolve it. */
export function cleanPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return path.startsWith('/') ? `/${parts.join('/')}` : parts.join('/');
}

/** Makes a path absolute, for a process with the working directory `folder`. */
export function absolutePath(path: string, folder: string): string {
  return cleanPath(path.startsWith('/') ? path : `${folder}/${path}`);
}

/** Whether a path is this directory, or below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/**
 * Resolves every link in a path, as in the mount table. `view` is the root of the process
 * ("/proc/812/root"), or "" for the node's own. `visit` is called for every path on the way.
 */
export async function resolvePath(
  node: NodeReader,
  view: string,
  path: string,
  visit?: (here: string, status: FileStatus) => void,
): Promise<string> {
  const waiting = cleanPath(path).split('/').filter(Boolean);
  let resolved: string[] = [];
  let linksLeft = LINKS_MAX;
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (name === '..') {
      resolved.pop();
      continue;
    }
    const here = `${view}/${[...resolved, name].join('/')}`;
    const status = await node.ask('status', { path: here });
    visit?.(here, status);
    if (status.type !== 'link') {
      resolved.push(name);
      continue;
    }
    linksLeft -= 1;
    if (linksLeft < 0) throw new ReadError('failed', path, `more than ${LINKS_MAX} links`);
    const target = await node.ask('link', { path: here });
    if (target.startsWith('/')) resolved = [];
    waiting.unshift(...target.split('/').filter((part) => part !== '' && part !== '.'));
  }
  return `/${resolved.join('/')}`;
}

/** A missing file becomes undefined; any other failure is thrown. */
export async function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  const answer = await attempt(read);
  if (answer.known) return answer.value;
  if (answer.error.failure === 'missing') return undefined;
  throw answer.error;
}
