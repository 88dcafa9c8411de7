import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { textAt } from '../../src/lib/std/json.ts';
import { BODY_BYTES_MAX } from './limits.ts';
import type { Change, ObjectStore, StoredObject } from './object-store.ts';
import { strategicMerge } from './strategic-merge.ts';

/** The target of a request to an API server, from its path: objects of a kind, or one of them. */
export interface ApiTarget {
  /** "v1", "coordination.k8s.io/v1". */
  readonly apiVersion: string;
  readonly kind: string;
  /** "pods", of whichever group and version. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** "status". */
  readonly part: string | undefined;
}

/**
 * The part of an API server that a real kubelet needs to run its pods: objects of every kind are
 * stored, listed and watched, without validation. It uses JSON over plain HTTP without
 * authentication, because only the practice node can reach it.
 */
export async function startApiStandIn(
  store: ObjectStore,
  { port, onDelete }: { readonly port: number; readonly onDelete: (target: ApiTarget) => void },
): Promise<Server> {
  const server = createServer((message, response) => {
    const [path = '', text] = (message.url ?? '').split('?');
    const target = targetOf(path);
    const query = new URLSearchParams(text);
    if (!target) {
      send(response, status(404, 'NotFound', `${path}: no such resource`));
    } else if (query.get('watch')) {
      watch(store, { target, query }, response);
    } else {
      const asked = { method: message.method ?? 'GET', target, query, onDelete };
      bodyOf(message)
        .then((body) => answer(store, { ...asked, body }))
        .then(
          (created) => send(response, created),
          (error: Error) => send(response, status(400, 'BadRequest', error.message)),
        );
    }
  });
  // A watch may be silent for a long time.
  server.requestTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

interface Asked {
  readonly method: string;
  readonly target: ApiTarget;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Called after an object was finally deleted. */
  readonly onDelete: (target: ApiTarget) => void;
}

interface Answer {
  readonly code: number;
  readonly body: object;
}

function answer(store: ObjectStore, asked: Asked): Answer {
  const { method, target, body } = asked;
  const { resource, namespace, name } = target;
  if (method === 'POST') return create(store, target, body as StoredObject);
  if (name === undefined) return list(store, asked);
  const place = { resource, namespace, name };
  const known = store.get(place);
  if (!known) return status(404, 'NotFound', `${resource} "${name}" not found`);
  if (method === 'GET') return { code: 200, body: known };
  if (method === 'DELETE') {
    asked.onDelete(target);
    return { code: 200, body: store.remove(place) ?? known };
  }
  const options = method === 'PATCH' ? strategicMerge(known, body) : body;
  // A status update does not change the spec.
  const changed = target.part ? { ...(options as StoredObject), spec: known.spec } : options;
  const object = changed as StoredObject;
  const isSame = JSON.stringify(known) === JSON.stringify(object);
  return { code: 200, body: isSame ? known : store.put(place, object) };
}

function create(store: ObjectStore, target: ApiTarget, object: StoredObject): Answer {
  const { resource, namespace } = target;
  // Accepted and dropped: nothing here reads them.
  if (resource === 'events') return { code: 201, body: object };
  const place = { resource, namespace, name: object.metadata.name };
  if (store.get(place)) {
    return status(409, 'AlreadyExists', `${resource} "${place.name}" already exists`);
  }
  return { code: 201, body: store.put(place, object) };
}

function list(store: ObjectStore, { target, query }: Asked): Answer {
  const { apiVersion, kind, resource } = target;
  const items = store.list(resource).filter(selectorOf(target, query));
  const metadata = { resourceVersion: store.version };
  return { code: 200, body: { apiVersion, kind: `${kind}List`, metadata, items } };
}

function watch(
  store: ObjectStore,
  { target, query }: Pick<Asked, 'target' | 'query'>,
  response: ServerResponse,
): void {
  if (query.get('sendInitialEvents') === 'true') {
    // Since v1.32 a kubelet tries this first, and falls back to a list.
    send(response, status(422, 'Invalid', 'sendInitialEvents is not supported: list first'));
    return;
  }
  const since = store.changesSince(Number(query.get('resourceVersion') ?? 0));
  if (!since) {
    send(response, status(410, 'Expired', 'too old resource version: list again'));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const isSelected = selectorOf(target, query);
  const report = ({ type, resource, object }: Change) => {
    if (resource !== target.resource || !isSelected(object)) return;
    response.write(`${JSON.stringify({ type, object })}\n`);
  };
  for (const change of since) report(change);
  response.once('close', store.watch(report));
}

async function bodyOf(message: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`a request has at most ${BODY_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return bytes === 0 ? undefined : JSON.parse(Buffer.concat(pieces).toString('utf8'));
}

function status(code: number, reason: string, message: string): Answer {
  const body = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message };
  return { code, body };
}

function send(response: ServerResponse, { code, body }: Answer): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Parses "/api/v1/namespaces/default/pods/web/status", "/apis/coordination.k8s.io/v1/leases". */
function targetOf(path: string): ApiTarget | undefined {
  const [, root, ...pieces] = path.split('/');
  const apiVersion = pieces.splice(0, root === 'apis' ? 2 : 1).join('/');
  const namespace = pieces[0] === 'namespaces' ? pieces.splice(0, 2)[1] : undefined;
  const [resource = '', name, part] = pieces;
  const kind = KINDS[resource];
  return kind === undefined ? undefined : { apiVersion, kind, resource, namespace, name, part };
}

/** Selects the objects of a list or a watch by namespace and field selector. */
function selectorOf(
  { namespace }: ApiTarget,
  query: URLSearchParams,
): (object: StoredObject) => boolean {
  // spec.nodeName=practice,metadata.namespace!=default
  const terms = (query.get('fieldSelector') ?? '').split(',').filter(Boolean);
  const conditions = terms.map((term) => {
    const [path = '', wanted = ''] = term.split(/!?==?/);
    const isMeant = !term.includes('!=');
    return (object: StoredObject) =>
      ((textAt(object, ...path.split('.')) ?? '') === wanted) === isMeant;
  });
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    conditions.every((holds) => holds(object));
}

/** The kinds that kubelets request, by their resource name in a path. */
const KINDS: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  csidrivers: 'CSIDriver',
  csinodes: 'CSINode',
  events: 'Event',
  leases: 'Lease',
  nodes: 'Node',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  pods: 'Pod',
  runtimeclasses: 'RuntimeClass',
  secrets: 'Secret',
  serviceaccounts: 'ServiceAccount',
  services: 'Service',
};
