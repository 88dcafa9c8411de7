import type { Snapshot } from '../../model/evidence.ts';
import { type FileStatus, ReadError } from '../../model/node-reader.ts';
import { resolvePath } from '../text/file-path.ts';

/**
 * We execute a program as root only if root alone could have written it: root owns the file and
 * every directory and link on the path, and no other user may write. Returns the resolved path.
 */
export async function trustedFile(snapshot: Snapshot, view: string, path: string): Promise<string> {
  checkTrusted(path, '/', await snapshot.node.ask('status', { path: view || '/' }));
  const seen: FileStatus[] = [];
  const resolved = await resolvePath(snapshot.node, view, path, (here, status) => {
    checkTrusted(path, here.slice(view.length), status);
    seen.push(status);
  });
  if (seen.at(-1)?.type === 'file') return resolved;
  throw new ReadError('unsupported', path, 'this is no program');
}

const WRITABLE_BY_OTHERS = 0o022;

function checkTrusted(path: string, here: string, { type, mode, owner }: FileStatus): void {
  if (owner !== 0) {
    throw new ReadError('unsupported', path, `not run, for ${here} is not root's`);
  }
  // The mode of a symbolic link has no meaning.
  if (type !== 'link' && (mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new ReadError('unsupported', path, `not run, for others than root may write ${here}`);
  }
}
