import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Where programs are on a node, also when /bin is gone. Not in PATH: that belongs to the user who started
 * us, and what we start here sees the whole machine.
 */
export const SYSTEM_FOLDERS = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/bin',
  '/sbin',
];

export function systemProgram(name: string): string | undefined {
  return SYSTEM_FOLDERS.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Directories of programs that run as root: not those to which an administrator adds programs. */
const PACKAGED_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export type Trusted =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly why: string };

/** The programs of this name, each of which may act as root, or why it may not. */
export function packagedPrograms(name: string): readonly Trusted[] {
  const files = PACKAGED_FOLDERS.map((folder) => join(folder, name)).filter(existsSync);
  if (files.length === 0) {
    return [{ ok: false, why: `there is no ${name} in ${PACKAGED_FOLDERS.join(', ')}` }];
  }
  return files.map((file) => {
    const why = distrustOf(file);
    return why === undefined ? { ok: true, value: file } : { ok: false, why };
  });
}

export function packagedProgram(name: string): Trusted {
  return packagedPrograms(name)[0] ?? { ok: false, why: `there is no ${name}` };
}

/** Why a program must not run as root: someone else can change it, or put another in its place. */
export function distrustOf(file: string): string | undefined {
  if (lstatSync(file).uid !== 0) return `${file} is not owned by root`;
  // Of a link both its own directory and the file behind it count.
  return distrustOfPath(realpathSync(dirname(file))) ?? distrustOfPath(realpathSync(file));
}

function distrustOfPath(path: string): string | undefined {
  const status = statSync(path);
  if (status.uid !== 0) return `${path} is not owned by root`;
  const isWritable =
    (status.mode & 0o002) !== 0 || ((status.mode & 0o020) !== 0 && status.gid !== 0);
  // In a sticky directory, such as /tmp, nobody else can replace what is root's.
  const isSticky = status.isDirectory() && (status.mode & 0o1000) !== 0;
  if (isWritable && !isSticky) return `${path} may be written by others than root`;
  const above = dirname(path);
  return above === path ? undefined : distrustOfPath(above);
}

/** For what we start: messages are in English, and the programs that it starts are the usual ones. */
export const PLAIN_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
