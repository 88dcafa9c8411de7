import { existsSync } from 'node:fs';
import type { OwnCommand } from '../src/node/reader/reader-process.ts';
import { EXECUTABLE, NOT_BUILT } from './rig/run-kubediag.ts';

if (!existsSync(EXECUTABLE)) throw new Error(NOT_BUILT);

/** The reader of the built executable. */
export const readerCommand: OwnCommand = {
  program: EXECUTABLE,
  arguments: ['reader'],
};
