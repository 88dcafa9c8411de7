import { EXIT } from './exit-codes.ts';
import { VERSION } from './product-version.ts';
import type { Terminal } from './terminal.ts';

export function version(terminal: Terminal): number {
  terminal.out(`kubediag ${VERSION}\n`);
  return EXIT.clear;
}
