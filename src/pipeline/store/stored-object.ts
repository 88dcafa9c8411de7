import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fieldsIn } from '../../lib/state/state-folder.ts';
import { defined } from '../../lib/std/defined.ts';
import { fieldAt, numberAt, textAt } from '../../lib/std/json.ts';
import { API_VERSION, KIND_NAMES } from '../api/kind-names.ts';
import { timeText } from '../graph/conditions.ts';
import { OBJECT_BYTES_MAX } from './limits.ts';
import type { NewObject, ObjectKey, StoredObject } from './store.ts';
import { StoreError } from './store-error.ts';

/** What each kind of write makes of an object, apart from the version, which the store sets. */

export function createdObject({ kind, metadata, spec }: NewObject, now: Date): StoredObject {
  const { name, namespace } = metadata;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: defined({
      name,
      namespace,
      uid: randomUUID(),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: timeText(now),
      ...writableMetadata(metadata),
    }),
    // A status given at creation is ignored, as in Kubernetes.
    spec,
  };
}

/** Stands for a damaged object in the event of its deletion. */
export function emptyObject(key: ObjectKey): StoredObject {
  const { kind } = key;
  return createdObject({ apiVersion: API_VERSION, kind, metadata: key, spec: {} }, new Date());
}

/** The metadata that `update` writes. Empty lists are left out, as in Kubernetes. */
function writableMetadata(metadata: NewObject['metadata']) {
  const { labels, annotations, finalizers = [], ownerReferences = [] } = metadata;
  return {
    labels,
    annotations,
    finalizers: finalizers.length > 0 ? finalizers : undefined,
    ownerReferences: ownerReferences.length > 0 ? ownerReferences : undefined,
  };
}

/** Returns `before` itself when nothing changes. */
export function updatedObject(before: StoredObject, wanted: StoredObject): StoredObject {
  const isOtherSpec = !isDeepStrictEqual(before.spec, wanted.spec);
  const generation = before.metadata.generation + (isOtherSpec ? 1 : 0);
  const written = writableMetadata(wanted.metadata);
  const metadata = defined({ ...before.metadata, generation, ...written });
  const after = { ...before, metadata, spec: wanted.spec };
  return isDeepStrictEqual(before, after) ? before : after;
}

/** Returns `before` itself when nothing changes. */
export function withStatus(before: StoredObject, { status }: StoredObject): StoredObject {
  const { status: _, ...rest } = before;
  const after = status === undefined ? rest : { ...rest, status };
  return isDeepStrictEqual(before, after) ? before : after;
}

/** A deleted object that still has finalizers. Returns `before` itself when it was deleted before. */
export function markedDeleted(before: StoredObject, now: Date): StoredObject {
  if (before.metadata.deletionTimestamp !== undefined) return before;
  return { ...before, metadata: { ...before.metadata, deletionTimestamp: timeText(now) } };
}

export function withVersion(object: StoredObject, version: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** The stored form. Throws `RequestEntityTooLarge`. */
export function textOf(object: StoredObject): string {
  const text = JSON.stringify(object);
  const size = Buffer.byteLength(text);
  if (size <= OBJECT_BYTES_MAX) return text;
  throw new StoreError(
    'RequestEntityTooLarge',
    `${nameOf(keyOf(object))}: ${size} bytes, and the limit is ${OBJECT_BYTES_MAX}; make it smaller`,
  );
}

/** Reads the stored form, which a failing disk may have changed. */
export function objectOf(text: string, key: ObjectKey): StoredObject | StoreError {
  const fields = fieldsIn(text);
  if (isObject(fields) && isDeepStrictEqual(keyOf(fields), key)) return fields;
  const advice = 'check the disk of --state-dir, delete the object and apply it again';
  return new StoreError('Damaged', `${nameOf(key)}: its stored data is damaged; ${advice}`);
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

/** The namespace of a key, "" for kinds without namespaces. A wrong key is a defect. */
export function namespaceOf({ kind, namespace = '', name }: ObjectKey): string {
  const isNamespaced = KIND_NAMES[kind].scope === 'Namespaced';
  if (isNamespaced === (namespace !== '')) return namespace;
  throw new Error(`${kind} ${name} ${isNamespaced ? 'needs a namespace' : 'has no namespace'}`);
}

/** "Diagnosis default/web-1" */
export function nameOf({ kind, namespace, name }: ObjectKey): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
