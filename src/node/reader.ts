import { writeSync } from 'node:fs';
import { Answerer } from './answerer.ts';
import type { ReadFailure } from './node-reader.ts';
import { ReadError } from './node-reader.ts';
import { FrameParser, type FromReader, frameOf, type ToReader } from './reader-protocol.ts';

/**
 * The disposable reader: a child process that touches the node on behalf of the live world. When a
 * path hangs, it hangs with it, is left behind, and nothing else is lost. It ends with its input.
 */
export function runReader(): void {
  const parser = new FrameParser<ToReader>();
  let answerer: Answerer | undefined;

  process.stdin.on('data', (chunk: Buffer) => {
    for (const { header } of parser.push(chunk)) {
      if (header.say === 'settings') {
        answerer = new Answerer(header.settings);
        say({ say: 'ready' });
      } else if (answerer) {
        answer(answerer, header);
      }
    }
  });
  process.stdin.on('end', () => answerer?.close());
}

function answer(answerer: Answerer, { id, kind, question }: ToReader & { say: 'ask' }): void {
  say({ say: 'begin', id });
  answerer.answer(kind, question).then(
    ({ value, payload }) => say({ say: 'answer', id, value }, payload),
    (error: unknown) => say({ say: 'failure', id, ...failureOf(error) }),
  );
}

/** Written at once, not through a stream: a reader that hangs a moment later has said it. */
function say(header: FromReader, payload?: Buffer): void {
  const frame = frameOf(header, payload);
  for (let at = 0; at < frame.length; ) at += writeSync(1, frame, at);
}

const FAILURES: Readonly<Record<string, ReadFailure>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ESRCH: 'missing',
  EACCES: 'denied',
  EPERM: 'denied',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
};

function failureOf(error: unknown): { failure: ReadFailure; detail?: string } {
  if (error instanceof ReadError) {
    const { failure, detail } = error;
    return detail === undefined ? { failure } : { failure, detail };
  }
  const { code, message } = error as NodeJS.ErrnoException;
  const failure = FAILURES[code ?? ''];
  return failure ? { failure } : { failure: 'failed', detail: message };
}
