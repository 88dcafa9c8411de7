import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fieldAt, textAt } from '../../lib/std/json.ts';
import { hasEnded } from '../../pipeline/api/has-ended.ts';
import { API_VERSION } from '../../pipeline/api/kinds.ts';
import { settleOperationSet } from '../../pipeline/store/operation-set-status.ts';
import type { NewObject, Store, StoredObject } from '../../pipeline/store/store.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';
import { createdObject, keyOf, updatedObject } from '../../pipeline/store/stored-object.ts';
import { type Admitted, admit, type CheckHere, isSame } from './admission.ts';
import { json, type WebAnswer, type WebRequest } from './answer.ts';
import { PATCH_ATTEMPTS_MAX, WARNINGS_CHARACTERS_MAX } from './limits.ts';
import { mergePatch } from './merge-patch.ts';
import { jsonIn, objectIn } from './read-body.ts';
import { namedTarget, type ResourceTarget, selectionOf } from './resource-target.ts';
import { StatusError } from './status-error.ts';
import { includeObjectIn, piecesOf, tableOf, tablePieces, wantsTable } from './table.ts';
import { type OpenWatches, watchResources } from './watch-resources.ts';
import { isDryRunOf, type WriteOptions, writeOptionsIn } from './write-options.ts';

export interface ResourceBackend {
  readonly store: Store;
  readonly watches: OpenWatches;
  /** Warnings about an object that is valid. */
  readonly adviceOn: (object: NewObject) => Promise<readonly string[]>;
  /** Problems of a resource that fits its schema and can never work on this node. */
  readonly checkHere: CheckHere;
}

/** Answers a request for objects as a Kubernetes API server does. */
export async function answerResource(
  backend: ResourceBackend,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const { method, query } = request;
  if (method === 'GET' && /^(1|true)$/.test(query.get('watch') ?? '')) {
    return watchResources(backend.store, target, request, backend.watches);
  }
  const isOne = target.name !== undefined;
  const handle = (isOne ? OF_ONE : OF_KIND).get(method);
  if (handle) return handle(backend, target, request);
  const verbs = isOne ? 'GET, PUT, PATCH or DELETE for one object' : 'GET or POST for a kind';
  throw new StatusError('MethodNotAllowed', `${method} is not supported: use ${verbs}`);
}

type ResourceHandler = typeof answerResource;

const getOne: ResourceHandler = async ({ store }, target, request) => {
  const object = await stored(store, target);
  if (!wantsTable(request)) return json(object);
  const { resourceVersion } = object.metadata;
  return json(tableOf(target.kind, [object], resourceVersion, includeObjectIn(request)));
};

async function stored(store: Store, target: ResourceTarget): Promise<StoredObject> {
  const key = namedTarget(target);
  const object = await store.get(key);
  if (object) return object;
  const { plural } = target.kind;
  const message = `${plural}.diagnosis.kubediag.org "${key.name}" not found: see \`kubediag get ${plural}\``;
  throw new StatusError('NotFound', message, { kind: plural, name: key.name });
}

const list: ResourceHandler = async ({ store }, target, request) => {
  const { kind } = target;
  const selection = selectionOf(target, request);
  const { objects, resourceVersion } = await store.each(kind.kind, selection);
  const head = { kind: `${kind.kind}List`, apiVersion: API_VERSION, metadata: { resourceVersion } };
  const body = wantsTable(request)
    ? tablePieces(kind, objects, resourceVersion, includeObjectIn(request))
    : piecesOf(head, 'items', objects);
  return { code: 200, type: 'application/json', body };
};

const create: ResourceHandler = async (backend, target, request) => {
  const { kind, namespace } = target;
  if (kind.scope === 'Namespaced' && namespace === undefined) {
    const message = `a ${kind.kind} needs a namespace: send it to namespaces/NAMESPACE/${kind.plural}`;
    throw new StatusError('MethodNotAllowed', message);
  }
  const options = writeOptionsIn(request);
  const given = await objectIn(request, ['application/json']);
  const admitted = await checked(backend, withName(given), target, options);
  const headers = warningHeaders(admitted.warnings);
  if (options.isDryRun) return json(await notStored(backend.store, admitted.object), 201, headers);
  const created = await backend.store.create(admitted.object);
  return json(await settleOperationSet(backend.store, created), 201, headers);
};

/** With the warnings of this node. */
async function checked(
  { adviceOn, checkHere }: ResourceBackend,
  given: unknown,
  target: ResourceTarget,
  { fieldValidation }: WriteOptions,
): Promise<Admitted> {
  const { object, warnings } = admit(given, target, fieldValidation, checkHere);
  return { object, warnings: [...warnings, ...(await adviceOn(object))] };
}

/** Completes metadata.generateName. */
function withName(given: unknown): unknown {
  const prefix = textAt(given, 'metadata', 'generateName');
  if (prefix === undefined || fieldAt(given, 'metadata', 'name') !== undefined) return given;
  const name = `${prefix}${randomBytes(3).toString('hex')}`;
  return { ...(given as object), metadata: { ...(fieldAt(given, 'metadata') as object), name } };
}

/** The answer to a dry run of a creation. */
async function notStored(store: Store, object: NewObject): Promise<StoredObject> {
  const key = keyOf(object);
  if (!(await store.get(key))) return createdObject(object, new Date());
  const message = `${key.kind} "${key.name}" already exists: use another name`;
  throw new StatusError('AlreadyExists', message);
}

const update: ResourceHandler = async (backend, target, request) => {
  const options = writeOptionsIn(request);
  const given = await objectIn(request, ['application/json']);
  const resourceVersion = textAt(given, 'metadata', 'resourceVersion');
  if (!resourceVersion) {
    const message =
      'metadata.resourceVersion must be specified for an update: get the object first';
    throw new StatusError('Invalid', message);
  }
  const before = await storedForChange(backend.store, target);
  return replaced(backend, target, options, { before, given, resourceVersion });
};

/** As it would be stored today: an older agent may have stored unknown fields. */
async function storedForChange(store: Store, target: ResourceTarget): Promise<StoredObject> {
  const object = await stored(store, target);
  const { data: spec } = target.kind.spec.safeParse(object.spec);
  return spec === undefined ? object : { ...object, spec: spec as StoredObject['spec'] };
}

interface Replacement {
  readonly before: StoredObject;
  readonly given: unknown;
  readonly resourceVersion: string;
}

async function replaced(
  backend: ResourceBackend,
  target: ResourceTarget,
  options: WriteOptions,
  { before, given, resourceVersion }: Replacement,
): Promise<WebAnswer> {
  const { store } = backend;
  const key = namedTarget(target);
  const admitted = await checked(backend, given, target, options);
  const { object } = admitted;
  const uid = textAt(given, 'metadata', 'uid') ?? before.metadata.uid;
  if (object.metadata.name !== key.name) {
    const message = `metadata.name is "${object.metadata.name}", and the path has "${key.name}"`;
    throw new StatusError('BadRequest', message);
  }
  if (resourceVersion !== before.metadata.resourceVersion || uid !== before.metadata.uid) {
    const message = `${key.kind} "${key.name}" has been modified: get it again and apply the change to that`;
    throw new StatusError('Conflict', message);
  }
  requireEffect(before, object);
  const headers = warningHeaders(admitted.warnings);
  if (isSame(before, object)) return json(before, 200, headers);
  const { labels = {}, annotations = {} } = object.metadata;
  const metadata = { ...before.metadata, labels, annotations };
  const changed = { ...before, metadata, spec: object.spec };
  if (options.isDryRun) return json(updatedObject(before, changed), 200, headers);
  return json(await settleOperationSet(store, await store.update(changed)), 200, headers);
}

/** Rejects a change that would never have an effect. */
function requireEffect(before: StoredObject, { spec }: NewObject): void {
  const late = lateChanges(before, spec).map((field) => `spec.${field}`);
  if (late.length === 0) return;
  const { name } = before.metadata;
  const ended = `Diagnosis "${name}" has ended (${String(before.status?.phase)})`;
  const advice = 'create another Diagnosis, or delete this one first';
  const causes = late.map((field) => ({ field, message: 'too late: the Diagnosis has ended' }));
  const details = { kind: 'Diagnosis', name, causes };
  throw new StatusError(
    'Invalid',
    `${ended}: a change of ${late.join(', ')} has no effect; ${advice}`,
    details,
  );
}

const MERGE_PATCH = 'application/merge-patch+json';

/** Retried after a concurrent write, unless the patch names a version. */
const patch: ResourceHandler = async (backend, target, request) => {
  const options = writeOptionsIn(request);
  const change = await objectIn(request, [MERGE_PATCH]);
  const pinned = textAt(change, 'metadata', 'resourceVersion');
  for (let attempt = 1; ; attempt += 1) {
    const before = await storedForChange(backend.store, target);
    const given = mergePatch(before, change);
    const resourceVersion = pinned ?? before.metadata.resourceVersion;
    const answer = await answerOf(
      replaced(backend, target, options, { before, given, resourceVersion }),
    );
    if (answer.ok) return answer.value;
    const isConflict = answer.error.reason === 'Conflict';
    if (!isConflict || pinned !== undefined || attempt >= PATCH_ATTEMPTS_MAX) throw answer.error;
  }
};

const remove: ResourceHandler = async ({ store }, target, request) => {
  const text = await request.body();
  const options =
    text.trim() === '' ? {} : await jsonIn({ ...request, body: async () => text }, TYPES);
  const { name } = namedTarget(target);
  const found = await answerOf(stored(store, target));
  // A damaged object cannot be read, but it can be deleted.
  if (!found.ok && found.error.reason !== 'Damaged') throw found.error;
  const current = found.ok ? found.value.metadata.uid : undefined;
  const version = textAt(options, 'preconditions', 'resourceVersion');
  const uid = textAt(options, 'preconditions', 'uid') ?? current;
  if (uid !== current) {
    throw new StatusError('Conflict', 'preconditions.uid: another object has this name now');
  }
  if (!isDryRunOf(request, options)) {
    await store.delete(namedTarget(target), version ?? undefined);
  }
  const details = { name, group: 'diagnosis.kubediag.org', kind: target.kind.plural, uid };
  return json({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
};

const OF_ONE = new Map(Object.entries({ GET: getOne, PUT: update, PATCH: patch, DELETE: remove }));
const OF_KIND = new Map(Object.entries({ GET: list, POST: create }));

const TYPES = ['application/json'];

/** What still has an effect after the end. */
const EFFECTIVE: ReadonlySet<string> = new Set(['ttlSecondsAfterFinished']);

/** The changed fields of the spec that have no effect because the Diagnosis has ended. */
function lateChanges(
  { kind, spec: before, status }: Pick<StoredObject, 'kind' | 'spec' | 'status'>,
  spec: StoredObject['spec'],
): readonly string[] {
  if (kind !== 'Diagnosis' || !hasEnded(status?.phase)) return [];
  const fields = new Set([...Object.keys(before), ...Object.keys(spec)]);
  return [...fields].filter(
    (field) => !EFFECTIVE.has(field) && !isDeepStrictEqual(before[field], spec[field]),
  );
}

/** Warnings that kubectl prints. Some clients accept at most 16 KiB of headers. */
function warningHeaders(warnings: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const lines: string[] = [];
  let characters = 0;
  for (const [index, text] of warnings.entries()) {
    // A header is one line of ASCII.
    const line = text.replace(/[^ -~]/g, '?').replace(/["\\]/g, "'");
    characters += line.length;
    if (characters > WARNINGS_CHARACTERS_MAX) {
      lines.push(`and ${warnings.length - index} more warnings`);
      break;
    }
    lines.push(line);
  }
  return lines.length === 0 ? {} : { Warning: lines.map((text) => `299 - "${text}"`) };
}
