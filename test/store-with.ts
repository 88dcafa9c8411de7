import type { Store } from '../src/pipeline/store/store.ts';

/** A store with some of its methods replaced. */
export function storeWith(store: Store, by: Partial<Store>): Store {
  return {
    create: (object) => store.create(object),
    get: (key) => store.get(key),
    list: (kind, selection) => store.list(kind, selection),
    each: (kind, selection) => store.each(kind, selection),
    update: (object) => store.update(object),
    updateStatus: (object) => store.updateStatus(object),
    delete: (key, version) => store.delete(key, version),
    watch: (kind, options) => store.watch(kind, options),
    ...by,
  };
}
