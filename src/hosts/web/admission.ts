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
import { operationSetStatus } from '../../pipeline/store/operation-set-status.ts';
import type { NewObject, StoredObject } from '../../pipeline/store/store.ts';
import { createdObject, textOf, withVersion } from '../../pipeline/store/stored-object.ts';
import { checkPatterns } from '../../pipeline/triggers/matcher.ts';
import type { ResourceTarget } from './resource-target.ts';
import { StatusError } from './status-error.ts';

/** An object that may be stored, with warnings for its sender. */
export interface Admitted {
  readonly object: NewObject;
  readonly warnings: readonly string[];
}

export type CheckHere = (resource: Resource) => readonly Problem[];

/** Checks an object against the schema of its kind, and then its graph, patterns or targets. */
export function admit(
  given: unknown,
  { kind, namespace }: Pick<ResourceTarget, 'kind' | 'namespace'>,
  fieldValidation: FieldValidation,
  checkHere: CheckHere,
): Admitted {
  const { apiVersion, kind: name } = (given ?? {}) as Partial<Record<string, unknown>>;
  if (apiVersion !== API_VERSION || name !== kind.kind) {
    const text = `the object is ${String(apiVersion)} ${String(name)}, and this path is for ${API_VERSION} ${kind.kind}`;
    throw new StatusError('BadRequest', `${text}: send it to the path of its kind`);
  }
  const stated = textAt(given, 'metadata', 'namespace');
  if (kind.scope === 'Namespaced' && stated !== undefined && stated !== namespace) {
    const text = `metadata.namespace is "${stated}", and the path has "${namespace}": use the same in both`;
    throw new StatusError('BadRequest', text);
  }
  const { resource, problems } = checkResource(inNamespace(given, namespace), fieldValidation);
  const here = resource ? checkHere(resource) : [];
  const all = [...problems, ...semanticProblems(resource), ...here];
  const refused = all.filter(({ severity }) => severity === 'problem');
  if (!resource || refused.length > 0) throw invalid(kind, given, refused);
  const object = objectOf(resource, kind, namespace);
  requireSpace(object);
  return { object, warnings: all.map(warningOf) };
}

/** With what is added later: a stored OperationSet must have space for its paths. */
function requireSpace(object: NewObject): void {
  const largest = Number.MAX_SAFE_INTEGER;
  const stored = withVersion(createdObject(object, new Date()), largest);
  const metadata = { ...stored.metadata, generation: largest };
  textOf({ ...stored, metadata, status: operationSetStatus(object, largest) ?? {} });
}

/** The namespace of the path is checked as if the object had it. */
function inNamespace(given: unknown, namespace: string | undefined): unknown {
  const metadata = fieldAt(given, 'metadata');
  if (namespace === undefined || typeof metadata !== 'object') return given;
  return { ...(given as object), metadata: { ...metadata, namespace } };
}

/** What can be wrong in an object that fits its schema. */
function semanticProblems(resource: Resource | undefined): readonly Problem[] {
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
  const name = textAt(given, 'metadata', 'name') ?? '';
  const causes = problems.map(({ place, what, fix }) => {
    return { field: placeText(place), message: `${what}: ${fix}` };
  });
  const list = causes.map(({ field, message }) =>
    field === '' ? message : `${field}: ${message}`,
  );
  const details = { kind, name, causes };
  const title = `${kind}.${GROUP} "${name}" is invalid`;
  // As an API server answers, because clients know that.
  if (problems.some(({ what }) => what === UNKNOWN_FIELD)) {
    const text = `${title}: strict decoding error: ${list.join('; ')}`;
    return new StatusError('BadRequest', text, details);
  }
  return new StatusError('Invalid', `${title}: ${list.join('; ')}`, details);
}

function warningOf({ place, what, fix }: Problem): string {
  return [placeText(place), what, fix].filter((part) => part !== '').join(': ');
}

/** Whether an update would change nothing. */
export function isSame(before: StoredObject, next: NewObject): boolean {
  const parts = ({ spec, metadata }: NewObject) => {
    const { labels = {}, annotations = {} } = metadata;
    return { spec, labels, annotations };
  };
  return isDeepStrictEqual(parts(before), parts(next));
}
