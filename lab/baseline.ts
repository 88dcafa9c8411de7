import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../src/lib/std/defined.ts';
import { mountPoints } from './mount-tables.ts';
import { PLACES } from './places.ts';

/** The state of a practice node before anything runs on it. `lab heal` restores it. */
export interface Baseline {
  /** In the order of the mount table. */
  readonly mountPoints: readonly string[];
  /** The entries of /. */
  readonly names: readonly string[];
  /** The target of /bin; absent if it is a directory. */
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
    return undefined; // It is missing, or not a symbolic link.
  }
}
