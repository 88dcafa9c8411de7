import { runFileServer } from '../../lab/file-server.ts';

/** The silent file server of the lab as a program of its own, for nodes without the executable. */
await runFileServer(process.argv.slice(2));
