import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { LINKS_MAX } from './limits.ts';

const WRITABLE_BY_OTHERS = 0o022;
/** In such a directory only the owner of an entry may rename or delete it. */
const STICKY = 0o1000;

/**
 * Why another user could replace this directory: by a directory or a link in its path, or by the
 * directory itself. Undefined if only root and we can. Missing parts of the path are not checked.
 */
export function replaceableBy(folder: string): string | undefined {
  let linksLeft = LINKS_MAX;
  let here = '/';
  let todo = partsOf(resolve(folder));
  let problem = problemOf(here, lstatSync(here));
  while (problem === undefined) {
    const [part, ...rest] = todo;
    if (part === undefined) return undefined;
    const next = join(here, part);
    const status = lstatSync(next, { throwIfNoEntry: false });
    if (!status) return undefined;
    problem = problemOf(next, status);
    todo = rest;
    if (!status.isSymbolicLink()) {
      here = next;
      continue;
    }
    linksLeft -= 1;
    if (linksLeft < 0) return `${folder} leads through too many symbolic links`;
    // The target is checked from the root on, because its directories have not been checked yet.
    todo = [...partsOf(resolve(dirname(next), readlinkSync(next))), ...rest];
    here = '/';
  }
  return problem;
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '');
}

function problemOf(path: string, status: Stats): string | undefined {
  const { uid, mode } = status;
  const isLink = status.isSymbolicLink();
  if (uid !== 0 && uid !== process.geteuid?.()) {
    const what = isLink ? `${path} is a symbolic link of` : `${path} belongs to`;
    return `${what} user ${uid}, who could put another directory in its place`;
  }
  // The mode of a link is not used.
  if (isLink || (mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0) return undefined;
  return `${path} can be written by others than its owner (mode ${octal(mode)}), who could replace what is in it`;
}

export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}
