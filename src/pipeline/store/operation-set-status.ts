import type { OperationSetSpec } from '../api/operation-set.ts';
import { pathsOf } from '../graph/paths.ts';
import type { Store, StoredObject } from './store.ts';
import { answerOf } from './store-answer.ts';
import { keyOf } from './stored-object.ts';

/** The status of an OperationSet whose graph was checked; undefined for other kinds. */
export function operationSetStatus(
  { kind, spec }: Pick<StoredObject, 'kind' | 'spec'>,
  generation: number,
): StoredObject['status'] {
  if (kind !== 'OperationSet') return undefined;
  const { adjacencyList } = spec as OperationSetSpec;
  return { ready: true, paths: pathsOf(adjacencyList), observedGeneration: generation };
}

/** Writes the status of an OperationSet after its spec, and gives the object as it is then. */
export async function settleOperationSet(
  store: Store,
  object: StoredObject,
): Promise<StoredObject> {
  let last: StoredObject | undefined = object;
  while (last) {
    const { generation } = last.metadata;
    if (last.status?.observedGeneration === generation) return last;
    const status = operationSetStatus(last, generation);
    if (!status) return last;
    const written = await answerOf(store.updateStatus({ ...last, status }));
    if (written.ok) return written.value;
    const { reason } = written.error;
    if (reason !== 'Conflict' && reason !== 'NotFound') throw written.error;
    last = await store.get(keyOf(object));
  }
  // It has been deleted.
  return object;
}

/** At the start: a crash may have come between a spec and its status. */
export async function settleOperationSets(store: Store): Promise<void> {
  const { objects } = await store.each('OperationSet');
  for await (const object of objects) await settleOperationSet(store, object);
}
