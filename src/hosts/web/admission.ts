import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../lib/std/defined.ts';
import { fieldAt, textAt } from '../../lib/std/json.ts';
import { checkResource, type Resource } from '../../pipeline/api/check-resource.ts';
import { API_VERSION, GROUP, type Kind } from '../../pipeline/api/kinds.ts';
import { type Problem, placeText } from '../../pipeline/api/problem.ts';
import { type FieldValidation, UNKNOWN_FIELD } from '../../pipeline/api/unknown-fields.ts';
import { adjacencyHash } from '../../pipeline/graph/adjacency-hash.ts';
import { checkGraph } from '../../pipeline/graph/check-graph.ts';
import { refusedTargets } from '../../pipeline/graph/left-out.ts';
import { pathsOf } from '../../pipeline/graph/paths.ts';
import type { NewObject, StoredObject } from '../../pipeline/store/store.ts';
import { createdObject, textOf, withVersion } from '../../pipeline/store/stored-object.ts';
import { checkPatterns } from '../../pipeline/triggers/matcher.ts';
import type { ResourceTarget } from './resource-target.ts';
import { StatusError } from './status-error.ts';

/** An object that may be kept, with what its sender should know all the same. */
export interface Admitted {
  readonly object: NewObject;
  readonly warnings: readonly string[];
}

export type CheckHere = (resource: Resource) => readonly Problem[];

interface Checks {
  readonly fieldValidation: FieldValidation;
  readonly checkHere: CheckHere;
}

/** Checks an object against the form of its kind, and then its graph or its patterns. */
export function admit(
  given: unknown,
  { kind, namespace }: Pick<ResourceTarget, 'kind' | 'namespace'>,
  { fieldValidation, checkHere }: Checks,
): Admitted {
  const { apiVersion, kind: name } = (given ?? {}) as Partial<Record<string, unknown>>;
  if (apiVersion !== API_VERSION || name !== kind.kind) {
    const words = `this is the place of ${API_VERSION} ${kind.kind}, and the object says ${String(apiVersion)} ${String(name)}`;
    throw new StatusError('BadRequest', `${words}: send it to its own place`);
  }
  const reported = textAt(given, 'metadata', 'namespace');
  if (kind.scope === 'Namespaced' && reported !== undefined && reported !== namespace) {
    const words = `it says namespace "${reported}" and was sent to "${namespace}": make them the same`;
    throw new StatusError('BadRequest', words);
  }
  const { resource, problems } = checkResource(placed(given, namespace), fieldValidation);
  const here = resource ? checkHere(resource) : [];
  const all = [...problems, ...deeper(resource), ...here];
  const refused = all.filter(({ severity }) => severity === 'problem');
  if (!resource || refused.length > 0) throw invalid(kind, given, refused);
  const object = objectOf(resource, kind, namespace);
  refuseTooLarge(object);
  return { object, warnings: all.map(warningOf) };
}

/** With all that is written beside it later: what is kept must have room for its paths. */
function refuseTooLarge(object: NewObject): void {
  const most = Number.MAX_SAFE_INTEGER;
  const stored = withVersion(createdObject(object, new Date()), most);
  const metadata = { ...stored.metadata, generation: most };
  textOf({ ...stored, metadata, status: statusFor(object, most) ?? {} });
}

/** Where it was sent is checked as if it had said so. */
function placed(given: unknown, namespace: string | undefined): unknown {
  const metadata = fieldAt(given, 'metadata');
  if (namespace === undefined || typeof metadata !== 'object') return given;
  return { ...(given as object), metadata: { ...metadata, namespace } };
}

/** What can be wrong though the form is right. */
function deeper(resource: Resource | undefined): readonly Problem[] {
  switch (resource?.kind) {
    case 'OperationSet':
      return checkGraph(resource.spec.adjacencyList);
    case 'Trigger':
      return checkPatterns(resource.spec);
    case 'Diagnosis':
      return refusedTargets(resource.spec);
    default:
      return [];
  }
}

function objectOf(resource: Resource, { scope }: Kind, namespace: string | undefined): NewObject {
  const { name = '', labels, annotations } = resource.metadata;
  const place = scope === 'Namespaced' && namespace !== undefined ? { namespace } : {};
  const hash =
    resource.kind === 'OperationSet'
      ? { 'adjacency-list-hash': adjacencyHash(resource.spec.adjacencyList) }
      : {};
  const allLabels = { ...labels, ...hash };
  return {
    apiVersion: API_VERSION,
    kind: resource.kind,
    metadata: defined({
      name,
      ...place,
      ...(Object.keys(allLabels).length === 0 ? {} : { labels: allLabels }),
      annotations,
    }),
    spec: resource.spec,
  };
}

function invalid({ kind }: Kind, given: unknown, problems: readonly Problem[]): StatusError {
  const { metadata } = given as { readonly metadata?: { readonly name?: unknown } };
  const name = typeof metadata?.name === 'string' ? metadata.name : '';
  const causes = problems.map(({ place, what, fix }) => {
    return { field: placeText(place), message: `${what}: ${fix}` };
  });
  const list = causes.map(({ field, message }) =>
    field === '' ? message : `${field}: ${message}`,
  );
  const details = { kind, name, causes };
  const words = `${kind}.${GROUP} "${name}" is invalid`;
  // The code and the words of an API server, which clients know.
  if (problems.some(({ what }) => what === UNKNOWN_FIELD)) {
    const text = `${words}: strict decoding error: ${list.join('; ')}`;
    return new StatusError('BadRequest', text, details);
  }
  return new StatusError('Invalid', `${words}: ${list.join('; ')}`, details);
}

function warningOf({ place, what, fix }: Problem): string {
  return [placeText(place), what, fix].filter((part) => part !== '').join(': ');
}

/** What follows from the spec of an OperationSet that was admitted; undefined for other kinds. */
export function statusFor(
  { kind, spec }: Pick<StoredObject, 'kind' | 'spec'>,
  generation: number,
): StoredObject['status'] {
  if (kind !== 'OperationSet') return undefined;
  const { adjacencyList } = spec as Extract<Resource, { kind: 'OperationSet' }>['spec'];
  return { ready: true, paths: pathsOf(adjacencyList), observedGeneration: generation };
}

/** Whether keeping it would change nothing. */
export function isSame(before: StoredObject, next: NewObject): boolean {
  const parts = ({ spec, metadata }: NewObject) => {
    const { labels = {}, annotations = {} } = metadata;
    return { spec, labels, annotations };
  };
  return isDeepStrictEqual(parts(before), parts(next));
}
