import { randomBytes } from 'node:crypto';
import { defined } from '../../lib/std/defined.ts';
import { fieldAt, textAt } from '../../lib/std/json.ts';
import { API_VERSION } from '../../pipeline/api/kinds.ts';
import { lateChanges } from '../../pipeline/diagnosis/late-change.ts';
import type { NewObject, Store, StoredObject } from '../../pipeline/store/store.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';
import { createdObject, updatedObject } from '../../pipeline/store/stored-object.ts';
import { type Admitted, admit, type CheckHere, isSame } from './admission.ts';
import { json, type WebAnswer, type WebRequest } from './answer.ts';
import { PATCH_TRIES_MAX } from './limits.ts';
import { mergePatch } from './merge-patch.ts';
import { jsonIn, objectIn } from './read-body.ts';
import { namedTarget, type ResourceTarget } from './resource-target.ts';
import { selectorIn } from './selector.ts';
import { settleSet } from './settle-sets.ts';
import { StatusError } from './status-error.ts';
import { includeObjectIn, piecesOf, tableOf, tablePieces, wantsTable } from './table.ts';
import { warningHeaders } from './warning-headers.ts';
import { type OpenWatches, watchResources } from './watch-resources.ts';
import { isDryRunOf, type WriteOptions, writeOptionsIn } from './write-options.ts';

export interface ResourceBackend {
  readonly store: Store;
  readonly watches: OpenWatches;
  /** What whoever applies an object should know of it here, beside what is wrong with it. */
  readonly adviceOn: (object: NewObject) => Promise<readonly string[]>;
  /** What of a resource whose form is right can never be done here. */
  readonly checkHere: CheckHere;
}

/** Answers a request for objects, in the way of an API server of Kubernetes. */
export async function answerResource(
  backend: ResourceBackend,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const isOne = target.name !== undefined;
  switch (request.method) {
    case 'GET': {
      const isWatch = /^(1|true)$/.test(request.query.get('watch') ?? '');
      if (isWatch) return watchResources(backend.store, target, request, backend.watches);
      return isOne ? getOne(backend, target, request) : list(backend, target, request);
    }
    case 'POST':
      if (!isOne) return create(backend, target, request);
      break;
    case 'PUT':
      if (isOne) return update(backend, target, request);
      break;
    case 'PATCH':
      if (isOne) return patch(backend, target, request);
      break;
    case 'DELETE':
      if (isOne) return remove(backend, target, request);
      break;
    default:
  }
  const verbs = isOne ? 'GET, PUT, PATCH or DELETE on one object' : 'GET or POST on all of a kind';
  throw new StatusError('MethodNotAllowed', `${request.method} means nothing here: use ${verbs}`);
}

async function getOne({ store }: ResourceBackend, target: ResourceTarget, request: WebRequest) {
  const object = await stored(store, target);
  if (!wantsTable(request)) return json(object);
  const { resourceVersion } = object.metadata;
  return json(tableOf(target.kind, [object], resourceVersion, includeObjectIn(request)));
}

async function stored(store: Store, target: ResourceTarget): Promise<StoredObject> {
  const key = namedTarget(target);
  const object = await store.get(key);
  if (object) return object;
  const { plural } = target.kind;
  const words = `${plural}.diagnosis.kubediag.org "${key.name}" not found: \`kubediag get ${plural}\` tells which are there`;
  throw new StatusError('NotFound', words, { kind: plural, name: key.name });
}

async function list(
  { store }: ResourceBackend,
  { kind, namespace }: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const isWanted = selectorIn(request.query);
  const { objects, resourceVersion } = await store.each(kind.kind, namespace);
  const wanted = filtered(objects, isWanted);
  const body = wantsTable(request)
    ? tablePieces(kind, wanted, resourceVersion, includeObjectIn(request))
    : listPieces(kind.kind, wanted, resourceVersion);
  return { code: 200, type: 'application/json', body };
}

function* filtered(objects: Iterable<StoredObject>, isWanted: (object: StoredObject) => boolean) {
  for (const object of objects) if (isWanted(object)) yield object;
}

function listPieces(kind: string, items: Iterable<StoredObject>, resourceVersion: string) {
  const head = { kind: `${kind}List`, apiVersion: API_VERSION, metadata: { resourceVersion } };
  return piecesOf(head, 'items', items);
}

async function create(
  backend: ResourceBackend,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const { kind, namespace } = target;
  if (kind.scope === 'Namespaced' && namespace === undefined) {
    const words = `a ${kind.kind} has a namespace: send it to namespaces/NAMESPACE/${kind.plural}`;
    throw new StatusError('MethodNotAllowed', words);
  }
  const options = writeOptionsIn(request);
  const given = await objectIn(request, ['application/json']);
  const admitted = await checked(backend, withName(given), target, options);
  const headers = warningHeaders(admitted.warnings);
  if (options.isDryRun) return json(await notStored(backend.store, admitted.object), 201, headers);
  const created = await settleSet(backend.store, await backend.store.create(admitted.object));
  return json(created, 201, headers);
}

/** Checked, and looked at with what is known here. */
async function checked(
  { adviceOn, checkHere }: ResourceBackend,
  given: unknown,
  target: ResourceTarget,
  { fieldValidation }: WriteOptions,
): Promise<Admitted> {
  const { object, warnings } = admit(given, target, { fieldValidation, checkHere });
  return { object, warnings: [...warnings, ...(await adviceOn(object))] };
}

/** A name of our own making for who gives only its beginning; it is checked as any other. */
function withName(given: unknown): unknown {
  const beginning = textAt(given, 'metadata', 'generateName');
  if (beginning === undefined || fieldAt(given, 'metadata', 'name') !== undefined) return given;
  const name = `${beginning}${randomBytes(3).toString('hex')}`;
  return { ...(given as object), metadata: { ...(fieldAt(given, 'metadata') as object), name } };
}

/** What the creation of an object would answer. */
async function notStored(store: Store, object: NewObject): Promise<StoredObject> {
  const { kind, metadata } = object;
  const { name, namespace } = metadata;
  const key = defined({ kind, name, namespace });
  if (!(await store.get(key))) return createdObject(object, new Date());
  throw new StatusError('AlreadyExists', `${kind} "${name}" already exists: take another name`);
}

async function update(backend: ResourceBackend, target: ResourceTarget, request: WebRequest) {
  const options = writeOptionsIn(request);
  const given = await objectIn(request, ['application/json']);
  const resourceVersion = textAt(given, 'metadata', 'resourceVersion');
  if (!resourceVersion) {
    const words =
      'metadata.resourceVersion must be specified for an update: get it, change it, put it';
    throw new StatusError('Invalid', words);
  }
  const before = await storedForChange(backend.store, target);
  return replaced(backend, target, options, { before, given, resourceVersion });
}

/** As it would be stored today: an agent of an older version has kept unknown fields. */
async function storedForChange(store: Store, target: ResourceTarget): Promise<StoredObject> {
  const object = await stored(store, target);
  const { data: spec } = target.kind.spec.safeParse(object.spec);
  return spec === undefined ? object : { ...object, spec: spec as StoredObject['spec'] };
}

interface Replacing {
  readonly before: StoredObject;
  readonly given: unknown;
  readonly resourceVersion: string;
}

async function replaced(
  backend: ResourceBackend,
  target: ResourceTarget,
  options: WriteOptions,
  { before, given, resourceVersion }: Replacing,
): Promise<WebAnswer> {
  const { store } = backend;
  const key = namedTarget(target);
  const admitted = await checked(backend, given, target, options);
  const { object } = admitted;
  const uid = textAt(given, 'metadata', 'uid') ?? before.metadata.uid;
  if (object.metadata.name !== key.name) {
    throw new StatusError(
      'BadRequest',
      `it says "${object.metadata.name}" and was sent to "${key.name}"`,
    );
  }
  if (resourceVersion !== before.metadata.resourceVersion || uid !== before.metadata.uid) {
    const words = `${key.kind} "${key.name}" has changed since it was read: read it again, and change that`;
    throw new StatusError('Conflict', words);
  }
  refuseLate(before, object);
  const headers = warningHeaders(admitted.warnings);
  if (isSame(before, object)) return json(before, 200, headers);
  const { labels = {}, annotations = {} } = object.metadata;
  const metadata = { ...before.metadata, labels, annotations };
  const changed = { ...before, metadata, spec: object.spec };
  if (options.isDryRun) return json(updatedObject(before, changed), 200, headers);
  return json(await settleSet(store, await store.update(changed)), 200, headers);
}

/** What would be taken without a word and never done. */
function refuseLate(before: StoredObject, { spec }: NewObject): void {
  const late = lateChanges(before, spec).map((field) => `spec.${field}`);
  if (late.length === 0) return;
  const { name } = before.metadata;
  const words = `Diagnosis "${name}" has ended (${String(before.status?.phase)}), and is not run again`;
  const todo = 'create another one, of another name, or delete this one first';
  const causes = late.map((field) => ({ field, message: 'it comes too late' }));
  const details = { kind: 'Diagnosis', name, causes };
  throw new StatusError(
    'Invalid',
    `${words}: ${late.join(', ')} would change nothing; ${todo}`,
    details,
  );
}

const MERGE_PATCH = 'application/merge-patch+json';

/** Tried again when somebody else writes at the same time, unless it says of what it is a patch. */
async function patch(
  backend: ResourceBackend,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const options = writeOptionsIn(request);
  const change = await objectIn(request, [MERGE_PATCH]);
  const pinned = textAt(change, 'metadata', 'resourceVersion');
  for (let tries = 1; ; tries += 1) {
    const before = await storedForChange(backend.store, target);
    const given = mergePatch(before, change);
    const resourceVersion = pinned ?? before.metadata.resourceVersion;
    const done = await answerOf(
      replaced(backend, target, options, { before, given, resourceVersion }),
    );
    if (done.ok) return done.value;
    const isLost = done.error.trouble === 'Conflict';
    if (!isLost || pinned !== undefined || tries >= PATCH_TRIES_MAX) throw done.error;
  }
}

async function remove(
  { store }: ResourceBackend,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const text = await request.body();
  const wish =
    text.trim() === '' ? {} : await jsonIn({ ...request, body: async () => text }, TYPES);
  const { name } = namedTarget(target);
  const found = await answerOf(stored(store, target));
  // What is damaged cannot be read, and can be deleted.
  if (!found.ok && found.error.trouble !== 'Damaged') throw found.error;
  const known = found.ok ? found.value.metadata.uid : undefined;
  const version = textAt(wish, 'preconditions', 'resourceVersion');
  const uid = textAt(wish, 'preconditions', 'uid') ?? known;
  if (uid !== known) {
    throw new StatusError('Conflict', 'it is another object of the same name by now: look again');
  }
  if (!isDryRunOf(request, wish)) {
    await store.delete(namedTarget(target), version ?? undefined);
  }
  const details = { name, group: 'diagnosis.kubediag.org', kind: target.kind.plural, uid };
  return json({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

const TYPES = ['application/json'];
