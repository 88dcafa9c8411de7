import { defined } from '../../lib/std/defined.ts';
import { GROUP, type Kind, kinds, VERSION } from '../../pipeline/api/kinds.ts';
import { StatusError } from './status-error.ts';

/** What a path below /apis means: one object, or all of a kind. */
export interface ResourceTarget {
  readonly kind: Kind;
  /** Absent: of no namespace, or of all. */
  readonly namespace?: string;
  readonly name?: string;
}

/** Of the pieces behind the group and its version: "namespaces/default/diagnoses/web". */
export function resourceTarget(path: readonly string[]): ResourceTarget {
  const isNamespaced = path[0] === 'namespaces' && path.length > 2;
  const namespace = isNamespaced ? path[1] : undefined;
  const [plural = '', name, part, ...rest] = isNamespaced ? path.slice(2) : path;
  const kind = kinds.find((each) => each.plural === plural);
  if (!kind || rest.length > 0 || (isNamespaced && kind.scope === 'Cluster')) {
    const known = kinds.map(({ plural: each, scope }) =>
      scope === 'Cluster' ? each : `namespaces/NAMESPACE/${each}`,
    );
    const text = `there is no ${path.join('/')} below /apis/${GROUP}/${VERSION}: there are ${known.join(', ')}`;
    throw new StatusError('NotFound', text);
  }
  if (part !== undefined) {
    const text = `${part} is no place of its own here: read it with the whole object`;
    throw new StatusError('MethodNotAllowed', `${text}; status is written by the agent alone`);
  }
  return defined({ kind, namespace, name });
}

/** The object that is meant. A namespaced one of no namespace is nobody's. */
export function namedTarget({ kind, namespace, name }: ResourceTarget) {
  if (name === undefined || (kind.scope === 'Namespaced') !== (namespace !== undefined)) {
    const text = `name one ${kind.kind}`;
    const where = kind.scope === 'Cluster' ? kind.plural : `namespaces/NAMESPACE/${kind.plural}`;
    throw new StatusError('MethodNotAllowed', `${text}: use ${where}/NAME`);
  }
  const place = namespace === undefined ? {} : { namespace };
  return { kind: kind.kind, name, ...place };
}
