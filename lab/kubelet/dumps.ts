import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import type { KubeletVersion } from '../settings.ts';

export interface DumpOptions {
  readonly version: KubeletVersion;
  /** Whether the sync loop is held up by a dead mount of an orphan, or waits for work. */
  readonly state: 'healthy' | 'blocked';
  /** each: debug=2, every goroutine for itself. counted: debug=1, those with one stack together. */
  readonly form: 'each' | 'counted';
}

/**
 * Recorded from a real kubelet of that version, or one of the same minor version; goroutines that are of
 * no interest are left out.
 */
export function dumpOf({ version, state, form }: DumpOptions): string {
  const recorded = version === 'v1.18.20' ? 'v1.18.8' : version;
  const name = `${recorded}-${state}-${form}.txt`;
  return isSea()
    ? getAsset(`dumps/${name}`, 'utf8')
    : readFileSync(join(import.meta.dirname, 'dumps', name), 'utf8');
}
