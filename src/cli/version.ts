import { VERSION } from '../host/product-version.ts';
import { EXIT } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

export function version(terminal: Terminal): number {
  terminal.out(`kubediag ${VERSION}\n`);
  return EXIT.clear;
}
