import type { KindName } from '../api/kinds.ts';

/** An object of `diagnosis.kubediag.org/v1` as a store keeps it. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: KindName;
  readonly metadata: StoredMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface StoredMetadata {
  readonly name: string;
  /** Absent for kinds that have none. */
  readonly namespace?: string;
  readonly uid: string;
  /** Another one after every change; whoever writes must know the last one. */
  readonly resourceVersion: string;
  /** Counts the changes of `spec`. */
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What is given to `create`: the store adds the rest of the metadata. */
export type NewObject = Omit<StoredObject, 'metadata'> & {
  readonly metadata: Pick<StoredMetadata, 'name' | 'namespace' | 'labels' | 'annotations'>;
};

export interface ObjectKey {
  readonly kind: KindName;
  readonly namespace?: string;
  readonly name: string;
}

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: StoredObject;
}

/**
 * The reasons of Kubernetes for the same. The last two are ours: the disk did not take it, and may do
 * so later; and what is kept of this one object is not what was written.
 */
export type StoreErrorReason =
  | 'AlreadyExists'
  | 'NotFound'
  | 'Conflict'
  | 'Gone'
  | 'TooLarge'
  | 'ServiceUnavailable'
  | 'Damaged';

export class StoreError extends Error {
  readonly trouble: StoreErrorReason;

  constructor(trouble: StoreErrorReason, message: string) {
    super(message);
    this.name = 'StoreError';
    this.trouble = trouble;
  }
}

/**
 * Where Diagnoses, and what they are made of, are kept. A promise that is kept means that the change
 * is on disk. Two writers never overwrite each other: who comes with an old `resourceVersion` gets a
 * `Conflict`, reads again and decides anew.
 */
export interface Store {
  readonly create: (object: NewObject) => Promise<StoredObject>;
  readonly get: (key: ObjectKey) => Promise<StoredObject | undefined>;
  readonly list: (kind: KindName, namespace?: string) => Promise<StoredList>;
  /** The same, to be looked at once, one after another: thousands of them take much room together. */
  readonly each: (kind: KindName, namespace?: string) => Promise<StoredEach>;
  /** Writes `spec`, labels and annotations; what it says of `status` is ignored. */
  readonly update: (object: StoredObject) => Promise<StoredObject>;
  /** Writes `status`; what it says of the rest is ignored. */
  readonly updateStatus: (object: StoredObject) => Promise<StoredObject>;
  /** With a `resourceVersion`, only when it is still that one. */
  readonly delete: (key: ObjectKey, resourceVersion?: string) => Promise<StoredObject>;
  /** Every change after `resourceVersion`, in order, until `stop`. `Gone` when that is too long ago. */
  readonly watch: (
    kind: KindName,
    resourceVersion: string,
    stop: AbortSignal,
  ) => AsyncIterable<StoreEvent>;
}

/** Each as it is when its turn comes; a watch from that version misses no change of any. */
export interface StoredEach {
  readonly objects: Iterable<StoredObject>;
  readonly resourceVersion: string;
}

export interface StoredList {
  readonly items: readonly StoredObject[];
  /** From here a watch misses nothing. */
  readonly resourceVersion: string;
}
