import { Worker } from 'node:worker_threads';

/** The file descriptor of the pipe from `startCompanion`. */
const PIPE = 3;

/**
 * Runs in a separate thread, which sees the end of the pipe while the main thread hangs in the
 * kernel, for example on a dead mount. It does not use a blocking read, because the exit of a
 * process waits for its threads.
 */
const WATCH = `
const { Socket } = require('node:net');
const pipe = new Socket({ fd: ${PIPE}, readable: true, writable: false });
pipe.on('error', () => {});
pipe.on('close', () => process.kill(process.pid, 'SIGKILL'));
pipe.resume();
`;

/** The thread needs far less; without a limit V8 reserves more. */
const MEMORY_MB = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/**
 * Kills this process with SIGKILL as soon as its parent has ended, whatever ended that. The parent
 * must have started it by `startCompanion` with `diesWithUs`. From its return on it needs nothing
 * of the thread that called it: that one may hang at once.
 */
export function dieWithParent(): void {
  // By default Node.js would share our outputs with the thread and make them non-blocking.
  const outputs = { stdout: true, stderr: true };
  const options = { eval: true, execArgv: [], env: {}, resourceLimits: MEMORY_MB, ...outputs };
  try {
    const watch = new Worker(WATCH, options);
    watch.on('error', () => {});
    // The thread does not prevent the exit of the process.
    watch.unref();
  } catch {
    // No thread can be started, for example at a process limit. Continue without the watch: the
    // next recovery ends a process that is left behind.
  }
}
