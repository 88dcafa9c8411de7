import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { INPUT_WAIT_MS } from '../limits.ts';

/** Opens an input that a person named: a regular file, standard input, or a pipe of their shell. */

// /dev/fd/63, /proc/self/fd/63: <(command) of a shell
const OF_SHELL = /^\/(?:dev|proc\/self)\/fd\/\d+$/;

/** An input that cannot be read. It has a code, as errors of the disk have. */
class NotReadable extends Error {
  override readonly name = 'NotReadable';
  readonly code = 'EINVAL';
}

/** A stream, or an open file that the caller must close. */
export type Given =
  | { readonly pieces: AsyncIterable<Uint8Array> }
  | { readonly file: FileHandle; readonly sizeBytes: number };

/** Advice while a person waits; `--quiet` omits it. */
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
    const instead = `to wait for its writer, redirect it to standard input: - < ${path}`;
    throw new NotReadable(`a named pipe; ${instead}`);
  }
  if (!status.isFile()) throw new NotReadable('not a regular file');
  // With O_NONBLOCK a pipe that replaced the file meanwhile cannot block us.
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  const { size } = await file.stat();
  return { file, sizeBytes: size };
}

/** The same as a stream; a file is closed at its end. */
export async function piecesGiven(path: string, hint?: Hint): Promise<AsyncIterable<Uint8Array>> {
  const given = await openGiven(path, hint);
  return 'pieces' in given ? given.pieces : given.file.createReadStream();
}

/** Prints a hint while nothing arrives: a pipe may stay silent forever. */
async function* noticed(
  pieces: NodeJS.ReadableStream,
  name: string,
  hint: Hint,
): AsyncGenerator<Uint8Array> {
  const isTyped = pieces === process.stdin && process.stdin.isTTY;
  const key = isTyped ? 'press Ctrl-D to end it' : 'press Ctrl-C to stop';
  const timer = setTimeout(
    () => hint(`waiting for ${name}; ${key}\n`),
    isTyped ? 0 : INPUT_WAIT_MS,
  );
  try {
    for await (const piece of pieces) {
      clearTimeout(timer);
      yield piece as unknown as Buffer;
    }
  } finally {
    clearTimeout(timer);
  }
}
