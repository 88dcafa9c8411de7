import { join } from 'node:path';
import type { ReaderCommand } from '../src/node/reader-process.ts';

/** The reader, run from the sources. */
export const readerCommand: ReaderCommand = {
  program: process.execPath,
  arguments: [join(import.meta.dirname, '../src/main.ts'), 'reader'],
};
