import type { DiagnosisSpec } from '../api/diagnosis.ts';
import type { Store, StoredObject } from '../store/store.ts';

/** What belongs to a Diagnosis beside its status once it is known where and what it runs. */
export interface Assignment {
  /** With the node of its pod. */
  readonly spec: DiagnosisSpec;
  /** Of the graph that it runs, for a label. */
  readonly hash: string | undefined;
}

/** Writes the assignment of a Diagnosis. On a cluster the controller does that, not the agents. */
export type Assign = (object: StoredObject, assignment: Assignment) => Promise<StoredObject>;

const HASH_LABEL = 'adjacency-list-hash';

export function hashOf({ metadata }: Pick<StoredObject, 'metadata'>): string | undefined {
  return metadata.labels?.[HASH_LABEL];
}

export function isAssigned(object: StoredObject, { spec, hash }: Assignment): boolean {
  return hash === hashOf(object) && spec === object.spec;
}

/** For the only agent of a store, which has no controller. */
export function assignIn(store: Store): Assign {
  return (object, { spec, hash }) => {
    const { labels } = object.metadata;
    const metadata = hash === undefined ? {} : { labels: { ...labels, [HASH_LABEL]: hash } };
    return store.update({ ...object, metadata: { ...object.metadata, ...metadata }, spec });
  };
}
