import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fieldsIn } from '../../lib/state/state-folder.ts';
import { defined } from '../../lib/std/defined.ts';
import { fieldAt, numberAt, textAt } from '../../lib/std/json.ts';
import { API_VERSION, type KindName, kinds } from '../api/kinds.ts';
import { OBJECT_BYTES_MAX } from './limits.ts';
import { type NewObject, type ObjectKey, type StoredObject, StoreError } from './store.ts';

/** What an object becomes by each change. The number of the change is put in by the store. */

export function createdObject({ kind, metadata, spec }: NewObject, now: Date): StoredObject {
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: defined({
      name,
      namespace,
      uid: randomUUID(),
      resourceVersion: '0',
      generation: 1,
      // 2021-06-02T07:28:55Z
      creationTimestamp: `${now.toISOString().slice(0, 19)}Z`,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
    }),
    // What a creator says of the status is not believed, as in Kubernetes.
    spec,
  };
}

/** In place of one that is damaged, for those who are told that it was deleted. */
export function unreadObject(key: ObjectKey): StoredObject {
  const { kind } = key;
  return createdObject({ apiVersion: API_VERSION, kind, metadata: key, spec: {} }, new Date());
}

/** The same object when nothing is new. */
export function updatedObject(before: StoredObject, asked: StoredObject): StoredObject {
  const { labels, annotations } = asked.metadata;
  const { labels: _, annotations: __, ...rest } = before.metadata;
  const isOtherSpec = !isDeepStrictEqual(before.spec, asked.spec);
  const after = {
    ...before,
    metadata: {
      ...rest,
      generation: rest.generation + (isOtherSpec ? 1 : 0),
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
    },
    spec: asked.spec,
  };
  return isDeepStrictEqual(before, after) ? before : after;
}

/** The same object when nothing is new. */
export function withStatus(before: StoredObject, { status }: StoredObject): StoredObject {
  const { status: _, ...rest } = before;
  const after = status === undefined ? rest : { ...rest, status };
  return isDeepStrictEqual(before, after) ? before : after;
}

export function withVersion(object: StoredObject, version: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** As it is kept. Throws `TooLarge`. */
export function textOf(object: StoredObject): string {
  const text = JSON.stringify(object);
  const size = Buffer.byteLength(text);
  if (size <= OBJECT_BYTES_MAX) return text;
  throw new StoreError(
    'TooLarge',
    `${wordsOf(keyOf(object))} would have ${size} bytes, and an object may have ${OBJECT_BYTES_MAX}; make it smaller`,
  );
}

/** What is kept under this key, or why it is not what was written there. */
export function objectOf(text: string, key: ObjectKey): StoredObject | StoreError {
  const fields = fieldsIn(text);
  if (isObject(fields) && isDeepStrictEqual(keyOf(fields), key)) return fields;
  const todo = 'see to the disk of --state-dir, delete it (kubediag delete), and apply it again';
  const words = `${wordsOf(key)} is not used: what the store holds of it is damaged; ${todo}`;
  return new StoreError('Damaged', words);
}

function isObject(value: object): value is StoredObject {
  const metadata = fieldAt(value, 'metadata');
  const texts = ['name', 'uid', 'resourceVersion', 'creationTimestamp'];
  return (
    texts.every((name) => textAt(metadata, name) !== undefined) &&
    numberAt(metadata, 'generation') !== undefined &&
    [fieldAt(value, 'spec'), fieldAt(value, 'status') ?? {}].every(
      (each) => typeof each === 'object' && each !== null,
    )
  );
}

export function keyOf({ kind, metadata: { name, namespace } }: NewObject): ObjectKey {
  return defined({ kind, name, namespace });
}

/** The namespace under which it is kept: "" for kinds that have none. */
export function placeOf({ kind, namespace = '', name }: ObjectKey): string {
  const isNamespaced = isInNamespaces(kind);
  if (isNamespaced === (namespace !== '')) return namespace;
  throw new Error(`${kind} ${name} ${isNamespaced ? 'needs a namespace' : 'has no namespace'}`);
}

function isInNamespaces(kind: KindName): boolean {
  return kinds.find((each) => each.kind === kind)?.scope === 'Namespaced';
}

/** "Diagnosis default/web-1" */
export function wordsOf({ kind, namespace, name }: ObjectKey): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
