import { constants, openSync, read, write } from 'node:fs';
import { runProgram, systemProgram } from '../src/lib/process/run.ts';

const MOUNT_MS = 10_000;
const ERROR_BYTES_MAX = 2_000;
/** Fits the largest write: the kernel returns an error for smaller buffers. */
const REQUEST_BYTES_MAX = 64 * 1024;
/** Node.js cannot wait for /dev/fuse, so it is polled. */
const POLL_MS = 20;
/** Between the time limits of the two probes of a check: 2s and 4s. */
const SLOW_MS = 2_500;

/** silent: reads every request and answers none. slow: answers late. healthy: answers at once. */
type Manner = 'silent' | 'slow' | 'healthy';

/**
 * A FUSE server: mounts an empty filesystem on each of the given directories, and prints "ready".
 * To the node, a silent server is like a server behind a dead network. SIGUSR2 makes a healthy
 * server silent (Node.js uses SIGUSR1). When the server exits, the kernel closes the connections
 * and wakes every waiting process.
 *
 * A server stopped by SIGSTOP would not hang its clients: a signal interrupts a request that the
 * server has not read yet.
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
    throw new Error(`cannot mount a FUSE filesystem on ${target}: ${why}`);
  }
  return device;
}

interface Server {
  /** Settles when the first request is answered: the kernel then sends the others. */
  readonly greeted: Promise<void>;
  /** Settles when the filesystem is unmounted. */
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
  // If the requesting process is gone, the kernel rejects the response, which is harmless.
  const send = (bytes: Buffer | undefined, then = () => {}) =>
    bytes && write(device, bytes, 0, bytes.length, null, then);
  take();
  return { greeted: greeted.promise, ended: ended.promise };
}

/** There is no request, or the requesting process exited while we read it (ENOENT). */
function isNothing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EINTR' || code === 'ENOENT';
}

/**
 * The FUSE responses of a server with an empty directory. Numbers and offsets are those of
 * <linux/fuse.h>, protocol 7.31.
 */
const LOOKUP = 1;
const FORGET = 2;
const GETATTR = 3;
const STATFS = 17;
const INIT = 26;
const OPENDIR = 27;
const READDIR = 28;
const RELEASEDIR = 29;
const INTERRUPT = 36;
const BATCH_FORGET = 42;

const HEADER_BYTES = 16;
const ENOENT = 2;
const ENOSYS = 38;
/** The largest write; the kernel requires a buffer for it. */
const WRITE_BYTES_MAX = 4096;
const FOLDER_MODE = 0o40_755;

/** FUSE_INIT: until it is answered, the kernel sends no other request. */
function isFirst(request: Buffer): boolean {
  return request.readUInt32LE(4) === INIT;
}

/** Undefined if the kernel expects no response. */
function answerTo(request: Buffer): Buffer | undefined {
  switch (request.readUInt32LE(4)) {
    case FORGET:
    case BATCH_FORGET:
    case INTERRUPT:
      return undefined;
    case INIT:
      return answer(request, greeting());
    case GETATTR:
      return answer(request, attributes());
    case STATFS:
      return answer(request, space());
    case OPENDIR:
      return answer(request, Buffer.alloc(16));
    case READDIR: // No entries, which also marks the end.
    case RELEASEDIR:
      return answer(request, Buffer.alloc(0));
    case LOOKUP:
      return answer(request, Buffer.alloc(0), ENOENT);
    default:
      return answer(request, Buffer.alloc(0), ENOSYS);
  }
}

function answer(request: Buffer, body: Buffer, error = 0): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(HEADER_BYTES + body.length, 0);
  header.writeInt32LE(-error, 4);
  request.copy(header, 8, 8, 16); // The id of the request.
  return Buffer.concat([header, body]);
}

function greeting(): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(7, 0);
  body.writeUInt32LE(31, 4);
  body.writeUInt32LE(WRITE_BYTES_MAX, 20);
  return body;
}

/** The validity is 0, so that the kernel caches nothing and asks the server each time. */
function attributes(): Buffer {
  const body = Buffer.alloc(104);
  body.writeBigUInt64LE(1n, 16); // The inode of the root.
  body.writeUInt32LE(FOLDER_MODE, 76);
  body.writeUInt32LE(2, 80); // Links.
  body.writeUInt32LE(4096, 96); // The block size.
  return body;
}

function space(): Buffer {
  const body = Buffer.alloc(80);
  for (const at of [0, 8, 16, 24, 32]) body.writeBigUInt64LE(1_000_000n, at);
  body.writeUInt32LE(4096, 40);
  body.writeUInt32LE(255, 44); // The longest name.
  body.writeUInt32LE(4096, 48);
  return body;
}
