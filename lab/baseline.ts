import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../src/lib/std/defined.ts';
import { mountPoints } from './mount-points.ts';
import { PLACES } from './places.ts';

/** What a practice node is before anything runs on it: to this it is healed. */
export interface Baseline {
  /** Where something is mounted, in the order of the mount table. */
  readonly mountPoints: readonly string[];
  /** What lies in the root. */
  readonly names: readonly string[];
  /** Where /bin leads; absent where it is a folder. */
  readonly bin?: string;
}

const FILE = join(PLACES.lab, 'baseline.json');

export function writeBaseline(): void {
  const bin = linkAt('/bin');
  const baseline: Baseline = defined({ mountPoints: mountPoints(), names: readdirSync('/'), bin });
  writeFileSync(FILE, JSON.stringify(baseline, null, 2));
}

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
}

export function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // It is gone, or no link.
  }
}
