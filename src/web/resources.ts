import { randomBytes } from 'node:crypto';
import { API_VERSION } from '../api/kinds.ts';
import { lateChanges } from '../diagnosis/late-change.ts';
import type { NewObject, Store, StoredObject } from '../diagnosis/store.ts';
import { StoreError } from '../diagnosis/store.ts';
import { answerOf } from '../diagnosis/store-answer.ts';
import { fieldAt, textAt } from '../std/json.ts';
import { type Admitted, admit, isSame } from './admission.ts';
import { json, type WebAnswer, type WebRequest } from './answer.ts';
import { PATCH_TRIES_MAX } from './limits.ts';
import { mergePatch } from './merge-patch.ts';
import { jsonIn } from './read-body.ts';
import { namedTarget, type ResourceTarget } from './resource-target.ts';
import { selectorIn } from './selector.ts';
import { settleSet } from './settle-sets.ts';
import { StatusError } from './status-error.ts';
import { piecesOf, tableOf, tablePieces, wantsTable } from './table.ts';
import { warningHeaders } from './warning-headers.ts';
import { type OpenWatches, watchResources } from './watch-resources.ts';

export interface ResourceDoor {
  readonly store: Store;
  readonly watches: OpenWatches;
  /** What whoever applies an object should know of it here, beside what is wrong with it. */
  readonly adviceOn: (object: NewObject) => Promise<readonly string[]>;
}

/** Answers a request for objects, in the way of an API server of Kubernetes. */
export async function answerResource(
  door: ResourceDoor,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const isOne = target.name !== undefined;
  switch (request.method) {
    case 'GET': {
      const isWatch = /^(1|true)$/.test(request.query.get('watch') ?? '');
      if (isWatch) return watchResources(door.store, target, request, door.watches);
      return isOne ? getOne(door, target, request) : list(door, target, request);
    }
    case 'POST':
      if (!isOne) return create(door, target, request);
      break;
    case 'PUT':
      if (isOne) return update(door, target, request);
      break;
    case 'PATCH':
      if (isOne) return patch(door, target, request);
      break;
    case 'DELETE':
      if (isOne) return remove(door, target, request);
      break;
    default:
  }
  const verbs = isOne ? 'GET, PUT, PATCH or DELETE on one object' : 'GET or POST on all of a kind';
  throw new StatusError('MethodNotAllowed', `${request.method} means nothing here: use ${verbs}`);
}

async function getOne({ store }: ResourceDoor, target: ResourceTarget, request: WebRequest) {
  const object = await kept(store, target);
  if (!wantsTable(request)) return json(object);
  return json(tableOf(target.kind, [object], object.metadata.resourceVersion));
}

async function kept(store: Store, target: ResourceTarget): Promise<StoredObject> {
  const key = namedTarget(target);
  const object = await store.get(key);
  if (object) return object;
  const { plural } = target.kind;
  const words = `${plural}.diagnosis.kubediag.org "${key.name}" not found: \`kubediag get ${plural}\` tells which are there`;
  throw new StatusError('NotFound', words, { kind: plural, name: key.name });
}

async function list(
  { store }: ResourceDoor,
  { kind, namespace }: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const isWanted = selectorIn(request.query);
  const { objects, resourceVersion } = await store.each(kind.kind, namespace);
  const wanted = filtered(objects, isWanted);
  const body = wantsTable(request)
    ? tablePieces(kind, wanted, resourceVersion)
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
  door: ResourceDoor,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const { kind, namespace } = target;
  if (kind.scope === 'Namespaced' && namespace === undefined) {
    const words = `a ${kind.kind} has a namespace: send it to namespaces/NAMESPACE/${kind.plural}`;
    throw new StatusError('MethodNotAllowed', words);
  }
  const given = await jsonIn(request, ['application/json']);
  const admitted = await checked(door, withName(given), target);
  const headers = warningHeaders(admitted.warnings);
  if (isDryRun(request)) return json(admitted.object, 201, headers);
  const made = await settleSet(door.store, await door.store.create(admitted.object));
  return json(made, 201, headers);
}

/** Checked, and looked at with what is known here. */
async function checked(
  { adviceOn }: ResourceDoor,
  given: unknown,
  { kind, namespace }: ResourceTarget,
): Promise<Admitted> {
  const { object, warnings } = admit(given, kind, namespace);
  return { object, warnings: [...warnings, ...(await adviceOn(object))] };
}

/** A name of our own making for who gives only its beginning; it is checked as any other. */
function withName(given: unknown): unknown {
  const beginning = textAt(given, 'metadata', 'generateName');
  if (beginning === undefined || fieldAt(given, 'metadata', 'name') !== undefined) return given;
  const name = `${beginning}${randomBytes(3).toString('hex')}`;
  return { ...(given as object), metadata: { ...(fieldAt(given, 'metadata') as object), name } };
}

/** What kubectl asks with `--dry-run=server`: all is checked, and nothing is kept. */
function isDryRun({ query }: WebRequest): boolean {
  return query.get('dryRun') === 'All';
}

async function update(door: ResourceDoor, target: ResourceTarget, request: WebRequest) {
  const given = await jsonIn(request, ['application/json']);
  const resourceVersion = textAt(given, 'metadata', 'resourceVersion');
  if (!resourceVersion) {
    const words =
      'metadata.resourceVersion must be specified for an update: get it, change it, put it';
    throw new StatusError('Invalid', words);
  }
  const before = await kept(door.store, target);
  return replaced(door, target, request, { before, given, resourceVersion });
}

interface Replacing {
  readonly before: StoredObject;
  readonly given: unknown;
  readonly resourceVersion: string;
}

async function replaced(
  door: ResourceDoor,
  target: ResourceTarget,
  request: WebRequest,
  { before, given, resourceVersion }: Replacing,
): Promise<WebAnswer> {
  const { store } = door;
  const key = namedTarget(target);
  const admitted = await checked(door, given, target);
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
  if (isDryRun(request) || isSame(before, object))
    return json(before, 200, warningHeaders(admitted.warnings));
  const { labels = {}, annotations = {} } = object.metadata;
  const metadata = { ...before.metadata, labels, annotations };
  const updated = await store.update({ ...before, metadata, spec: object.spec });
  return json(await settleSet(store, updated), 200, warningHeaders(admitted.warnings));
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
  door: ResourceDoor,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const change = await jsonIn(request, [MERGE_PATCH]);
  const pinned = textAt(change, 'metadata', 'resourceVersion');
  for (let tries = 1; ; tries += 1) {
    const before = await kept(door.store, target);
    const given = mergePatch(before, change);
    const resourceVersion = pinned ?? before.metadata.resourceVersion;
    const work = replaced(door, target, request, { before, given, resourceVersion });
    const [done] = await Promise.allSettled([work]);
    if (done.status === 'fulfilled') return done.value;
    const isLost = done.reason instanceof StoreError && done.reason.trouble === 'Conflict';
    if (!isLost || pinned !== undefined || tries >= PATCH_TRIES_MAX) throw done.reason;
  }
}

async function remove(
  { store }: ResourceDoor,
  target: ResourceTarget,
  request: WebRequest,
): Promise<WebAnswer> {
  const text = await request.body();
  const wish =
    text.trim() === '' ? {} : await jsonIn({ ...request, body: async () => text }, TYPES);
  const { name } = namedTarget(target);
  const found = await answerOf(kept(store, target));
  // What is damaged cannot be read, and can be deleted.
  if (!found.ok && found.error.trouble !== 'Damaged') throw found.error;
  const known = found.ok ? found.value.metadata.uid : undefined;
  const version = textAt(wish, 'preconditions', 'resourceVersion');
  const uid = textAt(wish, 'preconditions', 'uid') ?? known;
  if (uid !== known) {
    throw new StatusError('Conflict', 'it is another object of the same name by now: look again');
  }
  if (!isDryRun(request)) {
    await store.delete(namedTarget(target), version ?? undefined);
  }
  const details = { name, group: 'diagnosis.kubediag.org', kind: target.kind.plural, uid };
  return json({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

const TYPES = ['application/json'];
