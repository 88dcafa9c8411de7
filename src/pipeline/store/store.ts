import type { KindName } from '../api/kinds.ts';

/** An object of `diagnosis.kubediag.org/v1`, with the metadata that the store sets. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: KindName;
  readonly metadata: StoredMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface GivenMetadata {
  readonly name: string;
  /** Absent for kinds without namespaces. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** A deleted object stays, with a `deletionTimestamp`, until an update removes the last of these. */
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

interface StoredMetadata extends GivenMetadata {
  readonly uid: string;
  /** Opaque: changes with every write, and can only be compared for equality. */
  readonly resourceVersion: string;
  /** Counts the changes of `spec`. */
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** What is given to `create`: the store adds the rest of the metadata. */
export type NewObject = Omit<StoredObject, 'metadata'> & {
  readonly metadata: GivenMetadata;
};

export interface ObjectKey {
  readonly kind: KindName;
  readonly namespace?: string;
  readonly name: string;
}

/** Which objects of a kind; absent fields select all of them. */
export interface Selection {
  readonly namespace?: string | undefined;
  /** As for kubectl: "app=web,tier in (a,b),!old". */
  readonly labelSelector?: string | undefined;
  /** As for kubectl: "spec.nodeName=web-3". An API server knows the selectable fields only. */
  readonly fieldSelector?: string | undefined;
}

/** A change. Of a selection: an object that begins to match is ADDED, one that no longer matches is DELETED. */
export interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: StoredObject;
}

export type StoreEvent =
  | ObjectEvent
  /** No change: a watch that goes on from this version misses nothing. Sent now and then, or never. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface WatchOptions extends Selection {
  /** Of a list, an `each`, an event or a bookmark. */
  readonly resourceVersion: string;
  readonly stop: AbortSignal;
}

/**
 * Stores Diagnoses and what they refer to. It promises what a Kubernetes API server promises, and no
 * more. A write that resolves is durable. A write with an outdated `resourceVersion` is a `Conflict`:
 * read the object again and decide again. Every method rejects with a `StoreError`.
 */
export interface Store {
  readonly create: (object: NewObject) => Promise<StoredObject>;
  readonly get: (key: ObjectKey) => Promise<StoredObject | undefined>;
  readonly list: (kind: KindName, selection?: Selection) => Promise<StoredList>;
  /** Reads page by page, for thousands of objects that need not be in memory together. */
  readonly each: (kind: KindName, selection?: Selection) => Promise<StoredEach>;
  /** Writes `spec` and the metadata that a creator can give; ignores `status`. */
  readonly update: (object: StoredObject) => Promise<StoredObject>;
  /** Writes `status` and ignores the rest. */
  readonly updateStatus: (object: StoredObject) => Promise<StoredObject>;
  /** With a `resourceVersion`: only if that is still the version of the object. */
  readonly delete: (key: ObjectKey, resourceVersion?: string) => Promise<void>;
  /**
   * Every change after `resourceVersion`, in order. Rejects with `Expired` when the store no longer
   * has all of them; list again then. The store may end a watch at any time: go on from the last
   * version.
   */
  readonly watch: (kind: KindName, options: WatchOptions) => AsyncIterable<StoreEvent>;
}

export interface StoredList {
  readonly items: readonly StoredObject[];
  /** A watch from here misses no change. */
  readonly resourceVersion: string;
}

export interface StoredEach {
  /** Each as it was at that version or later. */
  readonly objects: AsyncIterable<StoredObject>;
  readonly resourceVersion: string;
}
