import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { PLACES } from './places.ts';
import { Refusal } from './refusal.ts';

/** All that a lab has on the machine beside its processes and cgroups. */
export function folderOf(name: string): string {
  return join(PLACES.lab, name);
}

/** How the root of a practice node is called, as `private-root.ts` mounts it. */
export function rootNameOf(name: string): string {
  return `kubediag-lab-${name}`;
}

/**
 * Nobody but root may have put there what we are about to believe, and to kill by: neither in the
 * folder of all labs nor in that of this one. One that is not there is nobody's.
 */
export function checkFolder(name?: string): void {
  const folders = [PLACES.lab, ...(name === undefined ? [] : [folderOf(name)])];
  const wrong = folders.find((folder) => !isRootsOwn(folder));
  if (wrong === undefined) return;
  throw new Refusal(
    name === undefined
      ? 'no practice node is touched'
      : `the practice node "${name}" is not touched`,
    `${wrong} is no folder of root alone: somebody else could have put anything there`,
    `look what it is, and remove it: ls -la ${wrong}`,
  );
}

export function isRootsOwn(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return true;
  return status.isDirectory() && status.uid === 0 && (status.mode & 0o022) === 0;
}
