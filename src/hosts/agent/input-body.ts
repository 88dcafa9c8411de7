import { type ReadFile, ResultReadError } from '../../pipeline/channel/executor.ts';
import { fileHash, fileNameOf } from '../../pipeline/diagnosis/large-results.ts';
import type { RequestBody } from '../../pipeline/steps/run-exchange.ts';
import type { LargeInput, StepToRun } from '../../pipeline/steps/step-to-run.ts';

type ReadStored = (path: string) => Promise<ReadFile | undefined>;

/**
 * The input of a step as JSON for a server. Large results are read from the node in pieces and never
 * are in memory as a whole. They are read twice: a request begins with its length.
 */
export async function inputBody(
  { diagnosis: { uid }, input, stop, largeInput = [] }: StepToRun,
  readFile: ReadStored,
): Promise<RequestBody | { readonly why: string }> {
  const isLarge = new Set(largeInput.map(({ key }) => key));
  const small = Object.entries(input).filter(([key]) => !isLarge.has(key));
  const begin = Buffer.from(JSON.stringify(Object.fromEntries(small)).slice(0, -1));
  const piecesOf = async function* (): AsyncGenerator<Uint8Array> {
    yield begin;
    for (const [at, { key, file }] of largeInput.entries()) {
      const comma = small.length === 0 && at === 0 ? '' : ',';
      yield Buffer.from(`${comma}${JSON.stringify(key)}:"`);
      yield* escaped(stored(`results/${uid}/${file}`, { key, file }, readFile));
      yield QUOTE;
    }
    yield END;
  };
  try {
    let bytes = 0;
    for await (const piece of piecesOf()) {
      stop.throwIfAborted();
      bytes += piece.length;
    }
    return { bytes, pieces: piecesOf };
  } catch (error) {
    if (error instanceof ResultReadError) return { why: error.message };
    throw error;
  }
}

const QUOTE = Buffer.from('"');
const END = Buffer.from('}');

/** The bytes of a stored result. Throws at its end if they are not those that were stored. */
async function* stored(
  path: string,
  { key, file }: LargeInput,
  readFile: ReadStored,
): AsyncGenerator<Uint8Array> {
  const hash = fileHash(key);
  const found = await readFile(path);
  for await (const piece of found?.pieces ?? []) {
    hash.update(piece);
    yield piece;
  }
  if (found && fileNameOf(hash) === file) return;
  const what = found ? 'has changed on disk' : 'is gone from the disk';
  const todo = 'check the disk and create a new Diagnosis';
  throw new ResultReadError(`result ${key}: ${file} ${what}; ${todo}`);
}

/** The inside of a JSON string. A decoder never splits a character, so pieces can be escaped apart. */
async function* escaped(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const insideOf = (text: string) => Buffer.from(JSON.stringify(text).slice(1, -1));
  for await (const piece of pieces) yield insideOf(decoder.decode(piece, { stream: true }));
  yield insideOf(decoder.decode());
}
