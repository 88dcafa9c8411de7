import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { INPUT_WAIT_MS } from '../limits.ts';

/** Opens what a person named to be read: a regular file, standard input, or a pipe of their shell. */

// /dev/fd/63, /proc/self/fd/63: as shells call <(command)
const OF_SHELL = /^\/(?:dev|proc\/self)\/fd\/\d+$/;

/** What was named cannot be read, in words for a person. It has a code, as errors of the disk have. */
class NotReadable extends Error {
  override readonly name = 'NotReadable';
  readonly code = 'EINVAL';
}

/** Pieces that come in, or a file that is open; who gets the file closes it. */
export type Given =
  | { readonly pieces: AsyncIterable<Uint8Array> }
  | { readonly file: FileHandle; readonly sizeBytes: number };

/** Advice for somebody who waits with us; `--quiet` does without it. */
export type Hint = Terminal['hint'];

const toStandardError: Hint = (text) => void process.stderr.write(text);

export async function openGiven(path: string, hint: Hint = toStandardError): Promise<Given> {
  if (path === '-' || path === '/dev/stdin')
    return { pieces: noticed(process.stdin, 'standard input', hint) };
  const status = await stat(path);
  if (status.isFIFO() && OF_SHELL.test(path)) {
    return { pieces: noticed(createReadStream(path), path, hint) };
  }
  if (status.isFIFO()) {
    const instead = `to wait for who writes to it, redirect it to standard input: - < ${path}`;
    throw new NotReadable(`a named pipe; ${instead}`);
  }
  if (!status.isFile()) throw new NotReadable('not a regular file');
  // Without O_NONBLOCK, a pipe put in its place since would make us wait for a writer.
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  const { size } = await file.stat();
  return { file, sizeBytes: size };
}

/** The same as pieces only; a file is closed at its end. */
export async function piecesGiven(path: string, hint?: Hint): Promise<AsyncIterable<Uint8Array>> {
  const given = await openGiven(path, hint);
  return 'pieces' in given ? given.pieces : given.file.createReadStream();
}

/** Says that we wait where nothing comes: a pipe may stay silent for ever. */
async function* noticed(
  pieces: NodeJS.ReadableStream,
  name: string,
  hint: Hint,
): AsyncGenerator<Uint8Array> {
  const isTyped = pieces === process.stdin && process.stdin.isTTY;
  const say = () => hint(`waiting for ${name}; ${isTyped ? 'Ctrl-D ends it' : 'Ctrl-C stops'}\n`);
  const timer = setTimeout(say, isTyped ? 0 : INPUT_WAIT_MS);
  try {
    for await (const piece of pieces) {
      clearTimeout(timer);
      yield piece as unknown as Buffer;
    }
  } finally {
    clearTimeout(timer);
  }
}
