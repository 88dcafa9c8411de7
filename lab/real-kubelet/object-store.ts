import { randomUUID } from 'node:crypto';
import { defined } from '../../src/lib/std/defined.ts';
import { CHANGES_MAX } from './limits.ts';

/** An object of any kind, as JSON. */
export interface StoredObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly object: StoredObject;
}

/** The key of an object: "pods", namespace "default", name "web". */
export interface Place {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** All objects in memory. Each change has a number and is sent to the watches. */
export class ObjectStore {
  #version = 0;
  readonly #objects = new Map<string, { readonly resource: string; object: StoredObject }>();
  readonly #changes: { readonly version: number; readonly change: Change }[] = [];
  readonly #watchers = new Set<(change: Change) => void>();

  get version(): string {
    return String(this.#version);
  }

  get(place: Place): StoredObject | undefined {
    return this.#objects.get(keyOf(place))?.object;
  }

  list(resource: string): readonly StoredObject[] {
    const all = [...this.#objects.values()];
    return all.flatMap((entry) => (entry.resource === resource ? [entry.object] : []));
  }

  /** Creates or updates an object; returns it as stored. */
  put(place: Place, options: StoredObject): StoredObject {
    const known = this.get(place);
    const { name, namespace } = place;
    const metadata = defined({
      creationTimestamp: known?.metadata.creationTimestamp ?? secondsNow(),
      uid: known?.metadata.uid ?? randomUUID(),
      ...options.metadata,
      name,
      namespace,
      resourceVersion: this.#next(),
    });
    const object = { ...options, metadata };
    this.#objects.set(keyOf(place), { resource: place.resource, object });
    this.#notify({ type: known ? 'MODIFIED' : 'ADDED', resource: place.resource, object });
    return object;
  }

  remove(place: Place): StoredObject | undefined {
    const known = this.get(place);
    if (!known) return undefined;
    const metadata = { ...known.metadata, resourceVersion: this.#next() };
    const object = { ...known, metadata };
    this.#objects.delete(keyOf(place));
    this.#notify({ type: 'DELETED', resource: place.resource, object });
    return object;
  }

  /** The changes since that number; undefined if it is too old. */
  changesSince(version: number): readonly Change[] | undefined {
    const [oldest] = this.#changes;
    if (oldest && oldest.version > version + 1) return undefined;
    return this.#changes.flatMap((entry) => (entry.version > version ? [entry.change] : []));
  }

  /** Returns the function that ends the watch. */
  watch(watcher: (change: Change) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  #next(): string {
    this.#version += 1;
    return this.version;
  }

  #notify(change: Change): void {
    this.#changes.push({ version: this.#version, change });
    if (this.#changes.length > CHANGES_MAX) this.#changes.shift();
    for (const watcher of this.#watchers) watcher(change);
  }
}

function keyOf({ resource, namespace = '', name }: Place): string {
  return `${resource}/${namespace}/${name}`;
}

/** As Kubernetes writes a time: 2026-11-15T20:53:00Z. */
function secondsNow(): string {
  return new Date().toISOString().replace(/[.]\d+Z$/, 'Z');
}
