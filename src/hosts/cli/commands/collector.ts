import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';

export function collector(_args: readonly string[], terminal: Terminal): number {
  terminal.out(
    isSea()
      ? getAsset('collector.sh', 'utf8')
      : readFileSync(join(import.meta.dirname, 'collector.sh'), 'utf8'),
  );
  return EXIT.clear;
}
