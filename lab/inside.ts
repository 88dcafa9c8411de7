import { existsSync, readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { PLACES } from './places.ts';
import type { LabSettings } from './settings.ts';

/** TMPFS_MAGIC of statfs(2). */
const TMPFS = 0x01021994;

/**
 * Throws unless this process is on a practice node: its root is in memory, and the settings name
 * its mount namespace. Every part of the lab that changes a node calls this first.
 */
export function checkInside(): LabSettings {
  const settings = existsSync(PLACES.settings)
    ? (JSON.parse(readFileSync(PLACES.settings, 'utf8')) as LabSettings)
    : undefined;
  const isHere = settings?.mountNamespace === readlinkSync('/proc/self/ns/mnt');
  if (settings === undefined || !isHere || statfsSync('/').type !== TMPFS) {
    throw new Error('not a practice node: parts of the lab run nowhere else');
  }
  return settings;
}

/** For commands that must not run on a practice node, such as `lab up`. */
export function isPracticeNode(): boolean {
  return existsSync(PLACES.settings);
}
