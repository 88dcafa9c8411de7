import type { OwnCommand } from '../src/node/reader/reader-process.ts';
import { EXECUTABLE } from './rig/run-kubediag.ts';

/** The reader of the built executable. */
export const readerCommand: OwnCommand = {
  program: EXECUTABLE,
  arguments: ['reader'],
};
