import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_HASH, MANAGED_BY_LABEL, MANAGER } from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import type { NewObject, StoredObject } from '../../../pipeline/store/store.ts';
import { objectHash } from '../object-hash.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export type BuiltInDecision =
  | { readonly kind: 'create'; readonly object: NewObject }
  | { readonly kind: 'update'; readonly object: StoredObject }
  /** It is as it should be, or belongs to a person: `conflict` says so then. */
  | { readonly kind: 'leave'; readonly conflict?: string };

/** What to do about a built-in object and the one with its name that the cluster has. */
export function decideBuiltIn(builtIn: NewObject, seen: StoredObject | undefined): BuiltInDecision {
  const hash = objectHash(builtIn.spec);
  if (!seen) return { kind: 'create', object: written(builtIn, builtIn, hash) };
  const { deletionTimestamp, labels, annotations } = seen.metadata;
  if (deletionTimestamp !== undefined) return { kind: 'leave' };
  const isWanted = isDeepStrictEqual(seen.spec, builtIn.spec);
  const last = annotations?.[BUILT_IN_HASH];
  if (labels?.[MANAGED_BY_LABEL] !== MANAGER) {
    return isWanted ? { kind: 'leave' } : { kind: 'leave', conflict: foreign(builtIn) };
  }
  if (isWanted && last === hash) return { kind: 'leave' };
  // Without a hash somebody has added the label: the object is ours from now on.
  const isUnchanged = isWanted || last === undefined || last === objectHash(seen.spec);
  if (!isUnchanged) return { kind: 'leave', conflict: changed(builtIn) };
  return { kind: 'update', object: written(seen, builtIn, hash) };
}

/**
 * Says what the controller has written as "kubectl apply" does. So a person who applies a manifest of their own
 * with this name replaces it; without that, kubectl would merge both.
 */
function written<T extends NewObject>(object: T, { kind, spec }: NewObject, hash: string): T {
  const { metadata } = object;
  const labels = { [MANAGED_BY_LABEL]: MANAGER };
  const annotations = { [BUILT_IN_HASH]: hash };
  const { name } = metadata;
  const applied = { apiVersion: API_VERSION, kind, metadata: { name, labels, annotations }, spec };
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: {
        ...metadata.annotations,
        ...annotations,
        [LAST_APPLIED]: JSON.stringify(applied),
      },
    },
    spec,
  };
}

function foreign({ kind, metadata: { name } }: NewObject): string {
  return (
    `${kind} ${name}: replaces the built-in one, because it lacks the label ${MANAGED_BY_LABEL}=${MANAGER}; ` +
    'the controller does not update it; delete it to get the built-in one back'
  );
}

function changed({ kind, metadata: { name } }: NewObject): string {
  return (
    `${kind} ${name}: changed by a person, so the controller does not update it; ` +
    'delete it to get the built-in one back'
  );
}
