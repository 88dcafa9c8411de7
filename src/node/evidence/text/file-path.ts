import { attempt } from '../../model/evidence.ts';
import { type FileStatus, type NodeReader, ReadError } from '../../model/node-reader.ts';
import { LINKS_MAX } from '../limits.ts';

/** Without "//", "/./" and the last slash; ".." stays, for only the node knows where it leads. */
export function cleanPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return path.startsWith('/') ? `/${parts.join('/')}` : parts.join('/');
}

/** A path as a process means it that was started in `folder`. */
export function absolutePath(path: string, folder: string): string {
  return cleanPath(path.startsWith('/') ? path : `${folder}/${path}`);
}

/** Whether a path is this folder, or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/**
 * Follows every link in a path, as the mount table shows it. `view` is the root of the process whose
 * path it is ("/proc/812/root"), or "" for the node's own. `visit` sees all that lies on the way.
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

/** Missing is an answer; any other failure is passed on. */
export async function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  const answer = await attempt(read);
  if (answer.known) return answer.value;
  if (answer.error.failure === 'missing') return undefined;
  throw answer.error;
}
