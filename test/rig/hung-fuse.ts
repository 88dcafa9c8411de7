import { runSilentFiles } from '../../src/lab/silent-files.ts';

/** The silent file server of the lab as a program of its own, for nodes without the executable. */
await runSilentFiles(process.argv.slice(2));
