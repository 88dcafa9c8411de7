import { createHash } from 'node:crypto';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { Processor } from '../api/processor-of.ts';
import { failedWith, type LargeResult, type OperationResult } from '../steps/operation-result.ts';
import { failingAlone, type RunStep, stopWithin } from '../steps/step-to-run.ts';
import { completeResults, fileOf, type LargeResults } from './large-results.ts';
import {
  LARGE_STEPS_MAX,
  RESULT_SHOWN_BYTES_MAX,
  RESULTS_SHOWN_BYTES_MAX,
  SENTENCE_BYTES,
} from './limits.ts';
import { bytesOf } from './with-record.ts';

/**
 * Runs steps where the files with large results are: a step gets those of earlier steps in full, and its
 * own become files. The driver of the Diagnosis passes only their names. `atOnce` limits the steps that
 * have large results of earlier ones in memory; one that uses none of them does not wait.
 */
export function withLargeResults(
  run: RunStep,
  results: Pick<LargeResults, 'read' | 'store'>,
  { atOnce = new Semaphore(LARGE_STEPS_MAX), uses = () => true }: LargeResultOptions = {},
): RunStep {
  return async ({ largeInput: given = [], ...step }) => {
    const largeInput = given.filter(({ key }) => uses(step.processor, key));
    const { uid } = step.diagnosis;
    const runWith = async (input: typeof step.input, stop: AbortSignal) => {
      const outcome = await run({ ...step, input, stop });
      return 'planned' in outcome ? outcome : storeLarge(uid, outcome, results);
    };
    if (largeInput.length === 0) return runWith(step.input, step.stop);
    // The time that it waits for others is part of its time.
    const ending = stopWithin(step.restMs, step.stop);
    const runComplete = async () => {
      const listed = { operationResults: step.input, largeResults: largeInput };
      const complete = await completeResults(uid, listed, results);
      return complete.ok ? runWith(complete.value, ending) : failedWith(complete.why);
    };
    return failingAlone(atOnce.run(runComplete, ending), ending);
  };
}

interface LargeResultOptions {
  readonly atOnce?: Semaphore;
  /** Whether a processor uses the result with this key. */
  readonly uses?: (processor: Processor, key: string) => boolean;
}

/** The result with the names of large values, which are in files then. */
export async function storeLarge(
  uid: string,
  result: OperationResult,
  { store }: Pick<LargeResults, 'store'>,
): Promise<OperationResult> {
  const { results: all = {}, record } = result;
  const large = surplusIn(all);
  if (large.length === 0) return result;
  const results = { ...all };
  for (const { key, text, file } of large) {
    const stored = await store(uid, file, text);
    if (!stored.ok) return failedWith(`its results cannot be stored: ${stored.why}`, record);
    delete results[key];
  }
  const largeResults = large.map(({ key, bytes, file, sha256 }) => ({ key, bytes, file, sha256 }));
  return { ...result, results, largeResults };
}

/** A result that becomes a file. */
export type Surplus = LargeResult & { readonly text: string };

/**
 * The results that do not fit into a status: each one that is too large by itself, and the largest
 * of too many. In a status a sentence takes the place of each.
 */
export function surplusIn(
  results: Readonly<Record<string, string>>,
  otherBytes = 0,
): readonly Surplus[] {
  const sizes = Object.entries(results)
    .map(([key, text]) => ({ key, text, size: bytesOf(text) }))
    .toSorted((left, right) => right.size - left.size);
  let total = Object.entries(results).reduce((sum, pair) => sum + bytesOf(pair), otherBytes);
  const surplus: Surplus[] = [];
  for (const { key, text, size } of sizes) {
    if (size <= RESULT_SHOWN_BYTES_MAX && total <= RESULTS_SHOWN_BYTES_MAX) break;
    total += SENTENCE_BYTES - size;
    const sha256 = createHash('sha256').update(text).digest('hex');
    surplus.push({ key, bytes: Buffer.byteLength(text), file: fileOf(key, text), sha256, text });
  }
  return surplus;
}
