import type { Store, StoredObject } from '../../pipeline/store/store.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';
import { statusFor } from './admission.ts';

/**
 * Writes the paths of an OperationSet beside its graph, once that is kept. A crash between the two is
 * made good at the next start, for which `settleSets` is there.
 */
export async function settleSet(store: Store, object: StoredObject): Promise<StoredObject> {
  let last: StoredObject | undefined = object;
  while (last) {
    const { generation } = last.metadata;
    if (last.status?.observedGeneration === generation) return last;
    const status = statusFor(last, generation);
    if (!status) return last;
    const written = await answerOf(store.updateStatus({ ...last, status }));
    if (written.ok) return written.value;
    if (!RETRIED.has(written.error.trouble)) throw written.error;
    const { kind, metadata } = object;
    last = await store.get({ kind, name: metadata.name });
  }
  // Somebody has deleted it meanwhile.
  return object;
}

const RETRIED: ReadonlySet<string> = new Set(['Conflict', 'NotFound']);

export async function settleSets(store: Store): Promise<void> {
  const { items } = await store.list('OperationSet');
  await Promise.all(items.map((each) => settleSet(store, each)));
}
