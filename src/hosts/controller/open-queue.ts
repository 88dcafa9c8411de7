import { messageOf } from '../../lib/std/message-of.ts';
import { WorkQueue } from '../../pipeline/kube/work-queue.ts';
import { StoreError } from '../../pipeline/store/store-error.ts';
import type { ControllerContext } from './controller-context.ts';
import { CONFLICT_WAIT_MS, DIAGNOSES_AT_ONCE } from './limits.ts';

/** See `WorkQueue`. */
type Work = (key: string) => Promise<number | undefined>;

/**
 * The queue of a part. A key is worked on again when another writer was first, and is done when its
 * object does not exist any more. A defect of ours fails its own key only.
 */
export function openQueue(
  context: Pick<ControllerContext, 'stop' | 'onMessage' | 'queues'>,
  name: string,
  work: Work,
  concurrency = DIAGNOSES_AT_ONCE,
): WorkQueue {
  const { stop, onMessage, queues } = context;
  const queue = new WorkQueue({
    work: (key) => outcomeOf(work, key),
    concurrency,
    stop,
    onError: (message) => onMessage(`${name}: ${message}`),
  });
  queues?.set(name, queue);
  return queue;
}

async function outcomeOf(work: Work, key: string): Promise<number | undefined> {
  try {
    return await work(key);
  } catch (error) {
    if (!(error instanceof StoreError)) {
      const what = `defect in kubediag, please report it: ${messageOf(error)}`;
      throw new StoreError('ServiceUnavailable', what);
    }
    if (error.reason === 'Conflict') return CONFLICT_WAIT_MS;
    if (error.reason === 'NotFound') return undefined;
    throw error;
  }
}
