import type { StoredObject } from './object-store.ts';

/** A request to an API server, from its path: objects of a kind, or one of them. */
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

/** Of "/api/v1/namespaces/default/pods/web/status", "/apis/coordination.k8s.io/v1/leases". */
export function targetOf(path: string): ApiTarget | undefined {
  const [, root, ...pieces] = path.split('/');
  const apiVersion = pieces.splice(0, root === 'apis' ? 2 : 1).join('/');
  const namespace = pieces[0] === 'namespaces' ? pieces.splice(0, 2)[1] : undefined;
  const [resource = '', name, part] = pieces;
  const kind = KINDS[resource];
  return kind === undefined ? undefined : { apiVersion, kind, resource, namespace, name, part };
}

/** The objects of a list or a watch: those of a namespace and a field selector. */
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
