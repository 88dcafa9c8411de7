import { Worker } from 'node:worker_threads';

/** Where `startCompanion` puts the pipe that ends with us. */
const PIPE = 3;

/**
 * A thread of its own: while the first thread waits in the kernel, on a dead mount for example, nobody
 * else in the process would see that the pipe has ended. Not a blocking read, for the exit of a
 * process waits until its threads have come to theirs.
 */
const WATCH = `
const { Socket } = require('node:net');
const pipe = new Socket({ fd: ${PIPE}, readable: true, writable: false });
pipe.on('error', () => {});
pipe.on('close', () => process.kill(process.pid, 'SIGKILL'));
pipe.resume();
`;

/** It needs far less; without a limit V8 sets more aside. */
const MEMORY_MB = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/**
 * Kills this process with SIGKILL as soon as its parent has ended, whatever ended that. The parent
 * must have started it by `startCompanion` with `diesWithUs`. From its return on it needs nothing of
 * the thread that called it: that one may hang at once.
 */
export function dieWithParent(): void {
  // By default Node would open our own outputs for it, and from then on they would not block.
  const outputs = { stdout: true, stderr: true };
  const options = { eval: true, execArgv: [], env: {}, resourceLimits: MEMORY_MB, ...outputs };
  try {
    const watch = new Worker(WATCH, options);
    watch.on('error', () => {});
    // It does not keep alive a process that has nothing more to do.
    watch.unref();
  } catch {
    // No thread can be started, at a limit of processes for example. To work unwatched is better than
    // not to work: what is left behind then is ended by the next recovery.
  }
}
