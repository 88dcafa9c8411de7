import { spawnSync } from 'node:child_process';
import { constants, openSync, readSync, writeSync } from 'node:fs';

/**
 * A FUSE server that mounts, takes every request and answers none: what a node sees of a server
 * that died with its network. Started as a process of its own with the folders to mount on, it says
 * "ready" when all are mounted. Its end, by whatever signal, frees everyone who waits: with its
 * files the kernel closes the connections.
 *
 * A request must have been read to be hopeless: one that nobody has read yet ends with a signal.
 */
const INIT = 26;
const IN_HEADER_BYTES = 40;
const OUT_HEADER_BYTES = 16;
const INIT_OUT_BYTES = 64;
/** The kernel refuses to hand requests to a smaller buffer. */
const REQUEST_BYTES_MAX = 1024 * 1024;
const POLL_MS = 20;

const request = Buffer.alloc(REQUEST_BYTES_MAX);

function mountHung(target: string): number {
  const device = openSync('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK);
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
  const words = ['-i', '-t', 'fuse', '-o', options, 'hung', target];
  const mount = spawnSync('mount', words, { stdio: ['ignore', 'ignore', 'pipe', device] });
  if (mount.status !== 0) throw new Error(`mount ${target}: ${mount.stderr.toString()}`);
  answerInit(device);
  return device;
}

/** Without this answer the kernel would hold every request back, and a signal could end them. */
function answerInit(device: number): void {
  const length = readSync(device, request);
  if (length < IN_HEADER_BYTES || request.readUInt32LE(4) !== INIT) throw new Error('no INIT');
  const answer = Buffer.alloc(OUT_HEADER_BYTES + INIT_OUT_BYTES);
  answer.writeUInt32LE(answer.length, 0);
  request.copy(answer, 8, 8, 16); // Which request it answers.
  answer.writeUInt32LE(7, OUT_HEADER_BYTES); // Protocol 7.31.
  answer.writeUInt32LE(31, OUT_HEADER_BYTES + 4);
  answer.writeUInt32LE(REQUEST_BYTES_MAX / 2, OUT_HEADER_BYTES + 20); // The longest write.
  writeSync(device, answer);
}

/** Takes what is there. Node cannot wait for such a device, so it is asked again and again. */
function takeRequests(device: number): void {
  try {
    while (readSync(device, request) > 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENODEV: it was unmounted; ENOENT: the one who asked was ended while we took it.
    if (!['EAGAIN', 'ENODEV', 'ENOENT', 'EINTR'].includes(code ?? '')) throw error;
  }
}

const devices = process.argv.slice(2).map(mountHung);
setInterval(() => devices.forEach(takeRequests), POLL_MS);
process.stdout.write('ready\n');
