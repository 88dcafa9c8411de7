import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { PLACES } from './places.ts';
import { Refusal } from './refusal.ts';

/** Everything that a lab has on the machine beside its processes and cgroups. */
export function folderOf(name: string): string {
  return join(PLACES.lab, name);
}

/** The mount source of a practice node's root (`private-root.ts`). */
export function rootNameOf(name: string): string {
  return `kubediag-lab-${name}`;
}

/**
 * We trust these records, and kill processes by them, so only root may be able to write the directory
 * of all labs and that of this one. A missing directory is fine.
 */
export function checkFolder(name?: string): void {
  const folders = [PLACES.lab, ...(name === undefined ? [] : [folderOf(name)])];
  const wrong = folders.find((folder) => !isRootsOwn(folder));
  if (wrong === undefined) return;
  throw new Refusal(
    name === undefined ? 'cannot use practice nodes' : `cannot use practice node "${name}"`,
    `${wrong}: not a directory that only root can write`,
    `inspect it, then remove it: ls -la ${wrong}`,
  );
}

export function isRootsOwn(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return true;
  return status.isDirectory() && status.uid === 0 && (status.mode & 0o022) === 0;
}
