import type { StoredObject } from './object-store.ts';

/** What is asked of an API server, by its path: objects of a kind, or one of them. */
export interface ApiTarget {
  /** "pods", of whichever group and version. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** "status". */
  readonly part?: string;
}

// /api/v1/namespaces/default/pods/web/status, /apis/coordination.k8s.io/v1/leases
const PATH =
  /^[/](?:api[/]v1|apis[/][^/]+[/][^/]+)(?:[/]namespaces[/]([^/]+))?[/]([^/]+)(?:[/](.+))?$/;

export function targetOf(path: string): ApiTarget | undefined {
  const [, namespace, resource, rest] = PATH.exec(path) ?? [];
  if (resource === undefined) return undefined;
  const [name, part] = rest?.split('/') ?? [];
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace: decodeURIComponent(namespace) }),
    ...(name === undefined ? {} : { name: decodeURIComponent(name) }),
    ...(part === undefined ? {} : { part }),
  };
}

/** Which objects a list or a watch is about: those of a namespace, and of a field selector. */
export function selectorOf(
  { namespace }: ApiTarget,
  query: URLSearchParams,
): (object: StoredObject) => boolean {
  // spec.nodeName=practice,metadata.namespace!=default
  const terms = (query.get('fieldSelector') ?? '').split(',').filter(Boolean);
  const conditions = terms.map((term) => {
    const [path = '', wanted = ''] = term.split(/!?==?/);
    const isMeant = !term.includes('!=');
    return (object: StoredObject) => (textAt(object, path) === wanted) === isMeant;
  });
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    conditions.every((holds) => holds(object));
}

function textAt(object: StoredObject, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  }
  return typeof value === 'string' ? value : '';
}
