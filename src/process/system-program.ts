import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where programs are on a node, also when /bin is gone. Not in PATH: that belongs to whoever started
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

/** For what we start: messages are in English, and the programs that it starts are the usual ones. */
export const PLAIN_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
