import { existsSync, readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { PLACES } from './places.ts';
import type { LabSettings } from './settings.ts';

/** The magic number of statfs(2). */
const TMPFS = 0x01021994;

/**
 * Whoever breaks or changes a practice node asks this first: that it is on one. Its root lies in
 * memory, and it has the settings that were written for this very mount namespace.
 */
export function checkInside(): LabSettings {
  const settings = existsSync(PLACES.settings)
    ? (JSON.parse(readFileSync(PLACES.settings, 'utf8')) as LabSettings)
    : undefined;
  const isHere = settings?.mountNamespace === readlinkSync('/proc/self/ns/mnt');
  if (settings === undefined || !isHere || statfsSync('/').type !== TMPFS) {
    throw new Error('this is no practice node: a part of the lab runs nowhere else');
  }
  return settings;
}

/** For what may not run on a practice node itself, such as to make another one there. */
export function isPracticeNode(): boolean {
  return existsSync(PLACES.settings);
}
