import { writeSync, writevSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { dieWithParent } from '../../lib/process/die-with-parent.ts';
import { READER_NAME } from '../model/node-reader.ts';
import { Answerer } from './answerer.ts';
import { FRAME_BYTES_MAX } from './limits.ts';
import { isLongTable, isPathKind } from './reach.ts';
import { failureOf } from './read-failure.ts';
import {
  bytesIn,
  FrameParser,
  type FromReader,
  partsOf,
  type ToReader,
} from './reader-protocol.ts';

/** Answers of a node with few pods are shorter. */
const LONG_BYTES = 128 * 1024;

/**
 * The disposable reader: a child process that touches the node on behalf of the live node. When a
 * path hangs, it hangs with it, is abandoned, and nothing else is lost. It ends with its parent.
 */
export function runReader(): void {
  // The kernel shows it: a later run finds those that this one had to leave behind.
  process.title = READER_NAME;
  const parser = new FrameParser<ToReader>();
  let answerer: Answerer | undefined;
  let turn = Promise.resolve();
  let isWatched = false;

  process.stdin.on('data', (chunk: Buffer) => {
    for (const { header } of parser.push(chunk)) {
      if (header.say === 'settings') {
        // Of an earlier look: a runtime that was away then may be there now.
        void answerer?.close();
        answerer = new Answerer(header.settings);
        say({ say: 'ready' });
      } else if (answerer) {
        const to = answerer;
        // A reader that is asked for tables alone cannot hang: it ends with its input.
        if (!isWatched && !isOfTables(header)) dieWithParent();
        isWatched ||= !isOfTables(header);
        turn = turn.then(() => answer(to, header));
      }
    }
  });
  process.stdin.on('end', () => void answerer?.close());
}

function isOfTables({ kind, question }: ToReader & { say: 'ask' }): boolean {
  return 'path' in question && isLongTable(kind, question.path);
}

/**
 * Paths are touched one after another, each answered before the next is begun: so when one hangs,
 * it is the one begun last, and no answer hangs with it. Services are waited for side by side.
 */
async function answer(
  answerer: Answerer,
  { id, kind, question }: ToReader & { say: 'ask' },
): Promise<void> {
  say({ say: 'begin', id });
  const said = answerer.answer(kind, question).then(
    ({ value, payload = [] }) => printAnswer({ say: 'answer', id, value }, payload),
    (error: unknown) => say({ say: 'failure', id, ...failureOf(error) }),
  );
  if (isPathKind(kind)) await said;
}

function printAnswer(header: FromReader & { say: 'answer' }, payload: readonly Buffer[]): void {
  const parts = partsOf(header, payload);
  const bytes = bytesIn(parts);
  if (bytes > LONG_BYTES) saveMemory();
  if (bytes <= FRAME_BYTES_MAX) {
    partsText(parts);
  } else {
    const detail = `the answer has more than ${FRAME_BYTES_MAX} bytes`;
    say({ say: 'failure', id: header.id, failure: 'too-large', detail });
  }
}

let savesMemory = false;

/**
 * A reader retains nothing of what it reads, so garbage is better collected early: with long answers it
 * needs a fifth less memory. Not from its start on, for then Node compiles again whatever it loads.
 */
function saveMemory(): void {
  if (!savesMemory) setFlagsFromString('--optimize-for-size');
  savesMemory = true;
}

function say(header: FromReader): void {
  partsText(partsOf(header, []));
}

/** Written at once, not through a stream: a reader that hangs a moment later has said it. */
function partsText(parts: readonly Buffer[]): void {
  for (let left = writevSync(1, parts), at = 0; at < parts.length; at += 1) {
    const part = parts[at] as Buffer;
    for (let from = Math.min(left, part.length); from < part.length; ) {
      from += writeSync(1, part, from);
    }
    left = Math.max(0, left - part.length);
  }
}
