import { Semaphore } from '../../lib/std/semaphore.ts';
import type { Executor } from '../../pipeline/channel/executor.ts';
import { storeLarge } from '../../pipeline/diagnosis/with-large-results.ts';
import type { OperationResult } from '../../pipeline/steps/operation-result.ts';
import { LARGE_ANSWERS_MAX } from './limits.ts';

/** Reads an answer and stores its large values on the node, a few at a time. */
export type TakeAnswer = (
  uid: string,
  read: () => OperationResult | Promise<OperationResult>,
  stop: AbortSignal,
) => Promise<OperationResult>;

/**
 * For what the agent itself reads from servers: an answer takes several times its size in memory until
 * its large values are on the node.
 */
export function largeAnswers(results: Pick<Executor['largeResults'], 'store'>): TakeAnswer {
  const semaphore = new Semaphore(LARGE_ANSWERS_MAX);
  return (uid, read, stop) =>
    semaphore.run(async () => storeLarge(uid, await read(), results), stop);
}
