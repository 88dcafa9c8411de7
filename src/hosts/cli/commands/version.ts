import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { VERSION } from '../../local-node/product-version.ts';
import { EXIT } from '../command-line/exit-codes.ts';

export function version(terminal: Terminal): number {
  terminal.out(`kubediag ${VERSION}\n`);
  return EXIT.clear;
}
