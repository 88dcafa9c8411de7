import { isObject, textAt } from '../../lib/std/json.ts';
import { type Collection, followCollection } from '../store/follow.ts';

interface InformerOptions<D> {
  /** What to remember of an object; undefined if it is of no interest. `before` itself means: unchanged. */
  readonly digest: (object: unknown, before: D | undefined) => D | undefined;
  /** By which other values objects are found, such as the name of a node. */
  readonly indexes?: Readonly<Record<string, (digest: D) => string | undefined>>;
}

/** Called with a key after its object was added, changed or deleted; absent if it was not, or is not, there. */
type Listener<D> = (key: string, now: D | undefined, before: D | undefined) => void;

/**
 * Remembers a little of every object of a collection, by "namespace/name". It may be seconds old: who
 * writes must name the version that was seen.
 */
export class Informer<D> {
  readonly #options: InformerOptions<D>;
  readonly #digests = new Map<string, D>();
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  readonly #listeners = new Set<Listener<D>>();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;

  constructor(options: InformerOptions<D>) {
    this.#options = options;
    for (const name of Object.keys(options.indexes ?? {})) this.#indexes.set(name, new Map());
  }

  /** Whether all objects were listed once. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when all objects were listed once, and when it is stopped. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get size(): number {
    return this.#digests.size;
  }

  get(key: string): D | undefined {
    return this.#digests.get(key);
  }

  entries(): IterableIterator<[string, D]> {
    return this.#digests.entries();
  }

  /** The keys with this value of an index. */
  keysBy(index: string, value: string): readonly string[] {
    return [...(this.#indexes.get(index)?.get(value) ?? [])];
  }

  onChange(listener: Listener<D>): void {
    this.#listeners.add(listener);
  }

  /** Follows the collection until `stop`. */
  async run(
    collection: Collection<unknown>,
    { stop, onError }: { readonly stop: AbortSignal; readonly onError: (message: string) => void },
  ): Promise<void> {
    stop.addEventListener('abort', () => this.#synced.resolve(), { once: true });
    if (stop.aborted) this.#synced.resolve();
    await followCollection(collection, {
      stop,
      onError,
      onList: (objects) => this.#replace(objects),
      onEvent: ({ type, object }) => {
        const key = keyOf(object);
        this.#put(key, type === 'DELETED' ? undefined : this.#digest(key, object));
      },
    });
  }

  async #replace(objects: AsyncIterable<unknown>): Promise<void> {
    const seen = new Set<string>();
    for await (const object of objects) {
      const key = keyOf(object);
      seen.add(key);
      this.#put(key, this.#digest(key, object));
    }
    for (const key of [...this.#digests.keys()]) if (!seen.has(key)) this.#put(key, undefined);
    this.#isSynced = true;
    this.#synced.resolve();
  }

  #digest(key: string, object: unknown): D | undefined {
    return this.#options.digest(object, this.#digests.get(key));
  }

  #put(key: string, now: D | undefined): void {
    const before = this.#digests.get(key);
    if (now === before) return;
    for (const [name, indexOf] of Object.entries(this.#options.indexes ?? {})) {
      const index = this.#indexes.get(name);
      const [old, value] = [before && indexOf(before), now && indexOf(now)];
      if (old === value || !index) continue;
      if (old !== undefined) {
        const keys = index.get(old);
        keys?.delete(key);
        if (keys?.size === 0) index.delete(old);
      }
      if (value !== undefined) index.set(value, (index.get(value) ?? new Set()).add(key));
    }
    if (now === undefined) this.#digests.delete(key);
    else this.#digests.set(key, now);
    for (const listener of this.#listeners) listener(key, now, before);
  }
}

/** "default/web", "web-3" */
function keyOf(object: unknown): string {
  const metadata = isObject(object) ? object.metadata : undefined;
  const namespace = textAt(metadata, 'namespace');
  const name = textAt(metadata, 'name') ?? '';
  return namespace === undefined ? name : `${namespace}/${name}`;
}
