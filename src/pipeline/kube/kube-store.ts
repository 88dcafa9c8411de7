import { fieldAt, isObject } from '../../lib/std/json.ts';
import { API_VERSION, KIND_NAMES, type KindName } from '../api/kind-names.ts';
import type {
  NewObject,
  ObjectKey,
  Selection,
  Store,
  StoredEach,
  StoredObject,
  StoreEvent,
  WatchOptions,
} from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { keyOf, namespaceOf } from '../store/stored-object.ts';
import { watchAt } from './collection.ts';
import type { KubeClient, KubeRequest } from './kube-client.ts';
import { listPages } from './list-pages.ts';
import { objectAt } from './objects.ts';

/** The store on an API server. */
export function kubeStore(client: KubeClient): Store {
  const write = async (
    method: KubeRequest['method'],
    object: NewObject,
    path: string,
  ): Promise<StoredObject> =>
    objectIn(await client.request({ method, path, body: object }), object.kind);
  const each = (kind: KindName, selection: Selection = {}) => eachOf(client, kind, selection);
  return {
    create: async (object) => {
      const key = keyOf(object);
      return write('POST', object, collectionPath(key.kind, namespaceOf(key)));
    },
    get: async (key) => {
      const found = await objectAt(client, objectPath(key));
      return found === undefined ? undefined : objectIn(found, key.kind);
    },
    list: async (kind, selection) => {
      const { objects, resourceVersion } = await each(kind, selection);
      const items: StoredObject[] = [];
      for await (const object of objects) items.push(object);
      return { items, resourceVersion };
    },
    each,
    update: async (object) => write('PUT', object, objectPath(keyOf(object))),
    updateStatus: async (object) => write('PUT', object, `${objectPath(keyOf(object))}/status`),
    delete: async (key, resourceVersion) => {
      const preconditions = resourceVersion === undefined ? undefined : { resourceVersion };
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
      await client.request({ method: 'DELETE', path: objectPath(key), body });
    },
    watch: (kind, options) => watchOf(client, kind, options),
  };
}

async function eachOf(
  client: KubeClient,
  kind: KindName,
  selection: Selection,
): Promise<StoredEach> {
  const path = collectionPath(kind, selection.namespace);
  const { items, resourceVersion } = await listPages(client, path, selectorsOf(selection));
  return { objects: objectsIn(items, kind), resourceVersion };
}

async function* objectsIn(
  items: AsyncIterable<unknown>,
  kind: KindName,
): AsyncGenerator<StoredObject> {
  for await (const item of items) yield objectIn(item, kind);
}

async function* watchOf(
  client: KubeClient,
  kind: KindName,
  { resourceVersion, stop, ...selection }: WatchOptions,
): AsyncGenerator<StoreEvent> {
  const path = collectionPath(kind, selection.namespace);
  const query = { ...selectorsOf(selection), resourceVersion };
  for await (const event of watchAt(client, path, query, stop)) {
    yield event.type === 'BOOKMARK'
      ? event
      : { type: event.type, object: objectIn(event.object, kind) };
  }
}

function selectorsOf({ labelSelector, fieldSelector }: Selection): KubeRequest['query'] {
  return { labelSelector, fieldSelector };
}

/** The object without what only the server uses. */
function objectIn(value: unknown, kind: KindName): StoredObject {
  const metadata = fieldAt(value, 'metadata');
  const spec = fieldAt(value, 'spec');
  if (!isObject(value) || !isObject(metadata) || !isObject(spec)) {
    throw new StoreError('ServiceUnavailable', `${kind}: malformed object in the answer`);
  }
  const { managedFields: _, ...rest } = metadata;
  return {
    ...value,
    apiVersion: API_VERSION,
    kind,
    metadata: rest,
    spec,
  } as unknown as StoredObject;
}

function objectPath(key: ObjectKey): string {
  return `${collectionPath(key.kind, namespaceOf(key))}/${encodeURIComponent(key.name)}`;
}

/** All namespaces without one. */
function collectionPath(kind: KindName, namespace = ''): string {
  const { plural } = KIND_NAMES[kind];
  const place = namespace === '' ? '' : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/apis/${API_VERSION}/${place}${plural}`;
}
