import { randomUUID } from 'node:crypto';
import { defined } from '../../src/lib/std/defined.ts';
import { CHANGES_MAX } from './limits.ts';

/** An object as it goes over the wire, of whichever kind. */
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

/** Where an object is kept: "pods" of namespace "default" with name "web". */
export interface Place {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** All objects of every kind, in memory; each change has a number, and whoever watches is told. */
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

  /** Keeps it, new or changed; gives it as it is kept. */
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
    this.#tell({ type: known ? 'MODIFIED' : 'ADDED', resource: place.resource, object });
    return object;
  }

  remove(place: Place): StoredObject | undefined {
    const known = this.get(place);
    if (!known) return undefined;
    const metadata = { ...known.metadata, resourceVersion: this.#next() };
    const object = { ...known, metadata };
    this.#objects.delete(keyOf(place));
    this.#tell({ type: 'DELETED', resource: place.resource, object });
    return object;
  }

  /** What has changed since that number; undefined when it is too long ago to be known. */
  changesSince(version: number): readonly Change[] | undefined {
    const [oldest] = this.#changes;
    if (oldest && oldest.version > version + 1) return undefined;
    return this.#changes.flatMap((entry) => (entry.version > version ? [entry.change] : []));
  }

  /** Gives the function that ends it. */
  watch(watcher: (change: Change) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  #next(): string {
    this.#version += 1;
    return this.version;
  }

  #tell(change: Change): void {
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
