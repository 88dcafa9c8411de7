import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { VERSION } from '../../local-node/product-version.ts';

export function version(_args: readonly string[], terminal: Terminal): number {
  terminal.out(`kubediag ${VERSION}\n`);
  return EXIT.clear;
}
