import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_HASH, MANAGED_BY_LABEL, MANAGER } from '../../../pipeline/api/cluster-names.ts';
import type { NewObject, StoredObject } from '../../../pipeline/store/store.ts';
import { hashOf } from '../hash-of.ts';

export type BuiltInDecision =
  | { readonly kind: 'create'; readonly object: NewObject }
  | { readonly kind: 'update'; readonly object: StoredObject }
  /** It is as it should be, or belongs to a person: `conflict` says so then. */
  | { readonly kind: 'leave'; readonly conflict?: string };

/** What to do about a built-in object and the one with its name that the cluster has. */
export function decideBuiltIn(builtIn: NewObject, seen: StoredObject | undefined): BuiltInDecision {
  const hash = hashOf(builtIn.spec);
  if (!seen) return { kind: 'create', object: withMarks(builtIn, hash) };
  const { deletionTimestamp, labels, annotations } = seen.metadata;
  if (deletionTimestamp !== undefined) return { kind: 'leave' };
  const isWanted = isDeepStrictEqual(seen.spec, builtIn.spec);
  const last = annotations?.[BUILT_IN_HASH];
  if (labels?.[MANAGED_BY_LABEL] !== MANAGER) {
    return isWanted ? { kind: 'leave' } : { kind: 'leave', conflict: foreign(builtIn) };
  }
  if (isWanted && last === hash) return { kind: 'leave' };
  // Without a hash somebody has added the label: the object is ours from now on.
  const isUnchanged = isWanted || last === undefined || last === hashOf(seen.spec);
  if (!isUnchanged) return { kind: 'leave', conflict: changed(builtIn) };
  return { kind: 'update', object: { ...withMarks(seen, hash), spec: builtIn.spec } };
}

function withMarks<T extends NewObject>(object: T, hash: string): T {
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [MANAGED_BY_LABEL]: MANAGER },
      annotations: { ...metadata.annotations, [BUILT_IN_HASH]: hash },
    },
  };
}

function foreign({ kind, metadata: { name } }: NewObject): string {
  return (
    `${kind} ${name} has the name of a built-in one and is used instead of it: it has no label ` +
    `${MANAGED_BY_LABEL}=${MANAGER}, so the controller does not change it; to use the built-in one, delete it`
  );
}

function changed({ kind, metadata: { name } }: NewObject): string {
  return (
    `${kind} ${name} is built in and was changed, so the controller does not update it; ` +
    'to use the built-in one again, delete it'
  );
}
