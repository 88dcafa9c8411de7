import { constants, openSync, read, write } from 'node:fs';
import { runProgram } from '../src/lib/process/run.ts';
import { systemProgram } from '../src/lib/process/system-program.ts';
import { answerTo, isFirst } from './empty-folder-answers.ts';

const MOUNT_MS = 10_000;
const ERROR_BYTES_MAX = 2_000;
/** Enough for the longest write that we let the kernel send; it hands requests to no smaller one. */
const REQUEST_BYTES_MAX = 64 * 1024;
/** Node cannot wait for such a device, so it is asked again and again. */
const POLL_MS = 20;
/** Longer than a first patience of two seconds, shorter than a second one of four. */
const SLOW_MS = 2_500;

/** silent: takes every request and answers none. slow: answers, late. healthy: answers at once. */
type Manner = 'silent' | 'slow' | 'healthy';

/**
 * A FUSE server: mounts an empty filesystem on each folder that it is given, and says "ready" when
 * all are mounted. A silent one is what a node sees of a server that died with its network. SIGUSR2
 * lets a healthy one fall silent (Node keeps SIGUSR1 for itself). Its end, by whatever signal, frees
 * everyone who waits: with its files the kernel closes the connections.
 *
 * A request must have been read to be hopeless: one that nobody has read yet ends with a signal. So
 * a server that is merely stopped would not do.
 */
export async function runFileServer(args: readonly string[]): Promise<void> {
  const targets = args.filter((word) => !word.startsWith('--'));
  let manner: Manner = args.includes('--healthy')
    ? 'healthy'
    : args.includes('--slow')
      ? 'slow'
      : 'silent';
  process.on('SIGUSR2', () => {
    manner = 'silent';
  });
  const servers: Server[] = [];
  for (const target of targets) servers.push(serve(await mountOn(target), () => manner));
  await Promise.all(servers.map(({ greeted }) => greeted));
  process.stdout.write('ready\n');
  await Promise.all(servers.map(({ ended }) => ended));
}

async function mountOn(target: string): Promise<number> {
  const device = openSync('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK);
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
  const mounted = await runProgram({
    program: systemProgram('mount') ?? 'mount',
    arguments: ['-i', '-t', 'fuse', '-o', options, 'practice', target],
    files: [device],
    deadlineMs: MOUNT_MS,
    outputBytesMax: ERROR_BYTES_MAX,
  });
  if (mounted.ended !== 'exit' || mounted.code !== 0) {
    const why = mounted.ended === 'not-started' ? mounted.why : mounted.stderr.trim();
    throw new Error(`a FUSE filesystem could not be mounted on ${target}: ${why}`);
  }
  return device;
}

interface Server {
  /** The kernel has been answered once, and from now on sends what anybody asks. */
  readonly greeted: Promise<void>;
  /** The filesystem was unmounted. */
  readonly ended: Promise<void>;
}

function serve(device: number, mannerNow: () => Manner): Server {
  const greeted = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const buffer = Buffer.alloc(REQUEST_BYTES_MAX);
  const take = () =>
    read(device, buffer, 0, buffer.length, null, (error, length) => {
      if (error?.code === 'ENODEV') ended.resolve();
      else if (error && isNothing(error)) setTimeout(take, POLL_MS);
      else if (error) ended.reject(error);
      else {
        const request = Buffer.from(buffer.subarray(0, length));
        if (isFirst(request)) send(answerTo(request), greeted.resolve);
        else if (mannerNow() === 'healthy') send(answerTo(request));
        else if (mannerNow() === 'slow') setTimeout(() => send(answerTo(request)), SLOW_MS);
        take();
      }
    });
  // Nobody may want the answer any more: then the kernel does not take it, and no harm is done.
  const send = (answer: Buffer | undefined, then = () => {}) =>
    answer && write(device, answer, 0, answer.length, null, then);
  take();
  return { greeted: greeted.promise, ended: ended.promise };
}

/** Nobody asks; or the one who asked was ended while we took it (ENOENT). */
function isNothing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EINTR' || code === 'ENOENT';
}
