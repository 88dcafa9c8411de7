import { isObject, listAt, textAt } from '../src/lib/std/json.ts';
import type { KubeClient, KubeRequest } from '../src/pipeline/kube/kube-client.ts';
import { StoreError } from '../src/pipeline/store/store-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** As much of an API server as an agent needs to publish its checks, for tests without a server. */
export class SyntheticApiServer implements KubeClient {
  readonly objects = new Map<string, Fields>();
  /** The requests that changed something: "PATCH /api/v1/nodes/web-3/status". */
  readonly writes: string[] = [];
  isDown = false;
  /** A part of a path that nobody may write to. */
  forbidden = ' ';

  watch(): AsyncIterable<unknown> {
    throw new Error('not part of it');
  }

  close(): void {}

  async request(request: KubeRequest): Promise<unknown> {
    const { method, path } = request;
    if (this.isDown) throw new StoreError('ServiceUnavailable', 'connection refused');
    if (method !== 'GET') this.writes.push(`${method} ${path}`);
    if (path.includes(this.forbidden)) throw new StoreError('Forbidden', `${path}: forbidden`);
    if (method === 'POST') return this.#create(path, request.body);
    const isStatus = path.endsWith('/status');
    const at = isStatus ? path.slice(0, -'/status'.length) : path;
    const object = this.objects.get(at);
    if (!object) throw new StoreError('NotFound', `${path} not found`);
    if (method === 'GET') return object;
    const changed = { ...object, ...merged(object, request) };
    this.objects.set(at, changed);
    return changed;
  }

  /** The fields of a condition of a Node, by its type. */
  condition(nodePath: string, type: string): Fields | undefined {
    const conditions = listAt(this.objects.get(nodePath), 'status', 'conditions') ?? [];
    return conditions.filter(isObject).find((each) => each.type === type);
  }

  #create(path: string, body: unknown): unknown {
    const at = `${path}/${textAt(body, 'metadata', 'name')}`;
    if (this.objects.has(at)) throw new StoreError('AlreadyExists', `${at} exists`);
    this.objects.set(at, isObject(body) ? body : {});
    return body;
  }
}

function merged(object: Fields, { body, contentType }: KubeRequest): Fields {
  if (!isObject(body)) return {};
  if (contentType === 'application/merge-patch+json') {
    return { metadata: { ...fieldsOf(object.metadata), ...fieldsOf(body.metadata) } };
  }
  // Of the status: only that is written here.
  if (contentType !== 'application/strategic-merge-patch+json') return { status: body.status };
  const patched = (listAt(body, 'status', 'conditions') ?? []).filter(isObject);
  const types = new Set(patched.map(({ type }) => type));
  const others = (listAt(object, 'status', 'conditions') ?? [])
    .filter(isObject)
    .filter(({ type }) => !types.has(type));
  return { status: { ...fieldsOf(object.status), conditions: [...others, ...patched] } };
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}
