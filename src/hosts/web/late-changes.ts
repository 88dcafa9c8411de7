import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '../../pipeline/store/store.ts';

/** What still has an effect after the end. */
const EFFECTIVE: ReadonlySet<string> = new Set(['ttlSecondsAfterFinished']);

/** The changed fields of the spec that have no effect because the Diagnosis has ended. */
export function lateChanges(
  { kind, spec: before, status }: Pick<StoredObject, 'kind' | 'spec' | 'status'>,
  spec: StoredObject['spec'],
): readonly string[] {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (kind !== 'Diagnosis' || !hasEnded) return [];
  const fields = new Set([...Object.keys(before), ...Object.keys(spec)]);
  return [...fields].filter(
    (field) => !EFFECTIVE.has(field) && !isDeepStrictEqual(before[field], spec[field]),
  );
}
