import { fieldAt, isObject, listAt, textAt } from '../src/lib/std/json.ts';
import { AUTHOR_POLICY, RIGHTS_PROBE } from '../src/pipeline/api/cluster-names.ts';
import type { KubeClient, KubeRequest } from '../src/pipeline/kube/kube-client.ts';
import { StoreError } from '../src/pipeline/store/store-error.ts';

type Fields = Readonly<Record<string, unknown>>;

interface PastChange {
  readonly version: number;
  readonly at: string;
  readonly event: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Fields };
}

/** As much of an API server as agents and controllers need, for tests without a server. */
export class SyntheticApiServer implements KubeClient {
  readonly objects = new Map<string, Fields>();
  /** The requests that changed something: "PATCH /api/v1/nodes/web-3/status". */
  readonly writes: string[] = [];
  isDown = false;
  /** A part of a path that nobody may write to. */
  forbidden = ' ';
  /** Whether admission policies are in force. */
  enforcesPolicies = true;
  /** Called before each request: other writers may come first. */
  onRequest: (request: KubeRequest) => void = () => {};
  readonly #changes: PastChange[] = [];
  #version = 0;
  /** Changes up to here are forgotten. */
  #compacted = 0;
  #wake = Promise.withResolvers<void>();
  #connection = 0;

  close(): void {}

  async request(request: KubeRequest): Promise<unknown> {
    const { method, path, body } = request;
    this.onRequest(request);
    if (this.isDown) throw new StoreError('ServiceUnavailable', 'connection refused');
    if (request.query?.dryRun !== undefined) return this.#tried(body);
    if (method !== 'GET') this.writes.push(`${method} ${path}`);
    if (path.includes(this.forbidden)) throw new StoreError('Forbidden', `${path}: forbidden`);
    if (method === 'POST') return this.#create(path, body);
    if (method === 'GET' && isCollection(path)) return this.#list(path);
    const isStatus = path.endsWith('/status');
    const at = isStatus ? path.slice(0, -'/status'.length) : path;
    const object = this.objects.get(at);
    if (!object) throw new StoreError('NotFound', `${path} not found`);
    if (method === 'GET') return object;
    const wanted = method === 'DELETE' ? fieldAt(body, 'preconditions') : fieldAt(body, 'metadata');
    for (const name of ['resourceVersion', 'uid']) {
      const value = textAt(wanted, name);
      if (value === undefined || value === textAt(object, 'metadata', name)) continue;
      throw new StoreError('Conflict', `${path}: ${name} is another one`);
    }
    if (method === 'DELETE') {
      this.#change('DELETED', at, object);
      return object;
    }
    return this.put(at, { ...object, ...merged(object, request, isStatus) });
  }

  async *watch(path: string, query: KubeRequest['query'], stop: AbortSignal) {
    const connection = this.#connection;
    stop.addEventListener('abort', () => this.#wakeWatches(), { once: true });
    let from = Number(query?.resourceVersion ?? this.#version);
    while (!stop.aborted && connection === this.#connection) {
      if (this.isDown) throw new StoreError('ServiceUnavailable', 'connection refused');
      if (from < this.#compacted) throw new StoreError('Expired', 'too old resource version');
      const woken = this.#wake.promise;
      for (const { version, at, event } of this.#changes) {
        if (version <= from || !isIn(at, path)) continue;
        from = version;
        yield event;
      }
      await woken;
    }
  }

  /** Stores an object as it is, as another writer would. */
  put(at: string, object: object): Fields {
    const type = this.objects.has(at) ? 'MODIFIED' : 'ADDED';
    return this.#change(type, at, object as Fields);
  }

  /** Deletes it as another writer would. */
  remove(at: string): void {
    const object = this.objects.get(at);
    if (object) this.#change('DELETED', at, object);
  }

  /** Ends all watches; those that go on from here must list again. */
  compact(): void {
    this.#compacted = this.#version;
    this.#changes.length = 0;
    this.cut();
  }

  /** Ends all watches. */
  cut(): void {
    this.#connection += 1;
    this.#wakeWatches();
  }

  /** The fields of a condition of a Node, by its type. */
  condition(nodePath: string, type: string): Fields | undefined {
    const conditions = listAt(this.objects.get(nodePath), 'status', 'conditions') ?? [];
    return conditions.filter(isObject).find((each) => each.type === type);
  }

  #change(type: 'ADDED' | 'MODIFIED' | 'DELETED', at: string, given: Fields): Fields {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const object = { ...given, metadata: { ...fieldsOf(given.metadata), resourceVersion } };
    if (type === 'DELETED') this.objects.delete(at);
    else this.objects.set(at, object);
    this.#changes.push({ version: this.#version, at, event: { type, object } });
    this.#wakeWatches();
    return object;
  }

  #wakeWatches(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** What a dry run answers: nothing is stored. */
  #tried(body: unknown): unknown {
    if (this.enforcesPolicies && textAt(body, 'metadata', 'name') === RIGHTS_PROBE) {
      const policy = `ValidatingAdmissionPolicy '${AUTHOR_POLICY}' with binding '${AUTHOR_POLICY}'`;
      throw new StoreError('Forbidden', `${policy} denied request: reserved`);
    }
    return { ...fieldsOf(body), metadata: { creationTimestamp: new Date().toISOString() } };
  }

  #create(path: string, body: unknown): unknown {
    const at = `${path}/${textAt(body, 'metadata', 'name')}`;
    if (this.objects.has(at)) throw new StoreError('AlreadyExists', `${at} exists`);
    const set = { uid: `uid-${this.#version}`, creationTimestamp: new Date().toISOString() };
    const metadata = { ...set, ...fieldsOf(fieldAt(body, 'metadata')) };
    return this.put(at, { ...fieldsOf(body), metadata });
  }

  #list(path: string): unknown {
    const found = [...this.objects].filter(([at]) => isIn(at, path));
    const metadata = { resourceVersion: String(this.#version) };
    return { metadata, items: found.map(([, object]) => object) };
  }
}

// /api/v1/nodes, /api/v1/namespaces/default/pods, /apis/diagnosis.kubediag.org/v1/diagnoses
function isCollection(path: string): boolean {
  const [first, ...rest] = path.split('/').slice(1);
  return rest.slice(first === 'api' ? 1 : 2).length % 2 === 1;
}

function isIn(at: string, collection: string): boolean {
  const folder = at.slice(0, at.lastIndexOf('/'));
  return folder === collection || folder.replace(/namespaces\/[^/]+\//, '') === collection;
}

function merged(object: Fields, { method, body, contentType }: KubeRequest, isStatus: boolean) {
  if (!isObject(body)) return {};
  if (method === 'PUT') {
    const { status, ...rest } = body;
    return isStatus ? { status } : rest;
  }
  if (contentType === 'application/merge-patch+json') {
    const { metadata, spec } = body;
    return {
      metadata: { ...fieldsOf(object.metadata), ...fieldsOf(metadata) },
      ...(spec === undefined ? {} : { spec: { ...fieldsOf(object.spec), ...fieldsOf(spec) } }),
    };
  }
  // Of the status: only that is written here.
  if (contentType !== 'application/strategic-merge-patch+json') return { status: body.status };
  const patched = (listAt(body, 'status', 'conditions') ?? []).filter(isObject);
  const types = new Set(patched.map(({ type }) => type));
  const others = (listAt(object, 'status', 'conditions') ?? [])
    .filter(isObject)
    .filter(({ type }) => !types.has(type));
  const left = patched.filter(({ $patch }) => $patch !== 'delete');
  return { status: { ...fieldsOf(object.status), conditions: [...others, ...left] } };
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}
