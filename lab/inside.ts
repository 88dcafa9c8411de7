import { existsSync, readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { PLACES } from './places.ts';
import type { LabSettings } from './settings.ts';

/** The magic number of statfs(2). */
const TMPFS = 0x01021994;

/**
 * Every part of the lab that changes a node calls this first: it throws unless this is a practice node,
 * with a root in memory and the settings of this very mount namespace.
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

/** For commands that must not run on a practice node, such as creating another one. */
export function isPracticeNode(): boolean {
  return existsSync(PLACES.settings);
}
