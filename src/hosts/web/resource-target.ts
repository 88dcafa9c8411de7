import { defined } from '../../lib/std/defined.ts';
import { GROUP, type Kind, kinds, VERSION } from '../../pipeline/api/kinds.ts';
import type { Selection } from '../../pipeline/store/store.ts';
import type { WebRequest } from './answer.ts';
import { StatusError } from './status-error.ts';

/** What a path below /apis names: one object, or a kind. */
export interface ResourceTarget {
  readonly kind: Kind;
  /** Absent for kinds without namespaces, and for all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
}

/** From the path after group and version: "namespaces/default/diagnoses/web". */
export function resourceTarget(path: readonly string[]): ResourceTarget {
  const isNamespaced = path[0] === 'namespaces' && path.length > 2;
  const namespace = isNamespaced ? path[1] : undefined;
  const [plural = '', name, part, ...rest] = isNamespaced ? path.slice(2) : path;
  const kind = kinds.find((each) => each.plural === plural);
  if (!kind || rest.length > 0 || (isNamespaced && kind.scope === 'Cluster')) {
    const known = kinds.map(({ plural: each, scope }) =>
      scope === 'Cluster' ? each : `namespaces/NAMESPACE/${each}`,
    );
    const text = `${path.join('/')} not found in /apis/${GROUP}/${VERSION}: use ${known.join(', ')}`;
    throw new StatusError('NotFound', text);
  }
  if (part !== undefined) {
    const text = `subresource ${part} is not supported: read it as part of the object`;
    throw new StatusError('MethodNotAllowed', `${text}; only the agent writes the status`);
  }
  return defined({ kind, namespace, name });
}

/** The key of one object. */
export function namedTarget({ kind, namespace, name }: ResourceTarget) {
  if (name === undefined || (kind.scope === 'Namespaced') !== (namespace !== undefined)) {
    const where = kind.scope === 'Cluster' ? kind.plural : `namespaces/NAMESPACE/${kind.plural}`;
    throw new StatusError('MethodNotAllowed', `name one ${kind.kind}: use ${where}/NAME`);
  }
  return defined({ kind: kind.kind, name, namespace });
}

/** The objects of a list or a watch: those of the path that fit the selectors of the query. */
export function selectionOf(
  { namespace, name }: ResourceTarget,
  { query }: Pick<WebRequest, 'query'>,
): Selection {
  const named = name === undefined ? [] : [`metadata.name=${name}`];
  const fields = [...query.getAll('fieldSelector'), ...named].join(',');
  return {
    namespace,
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: fields === '' ? undefined : fields,
  };
}
