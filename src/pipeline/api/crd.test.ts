import { expect, test } from 'vitest';
import { crd, type StructuralSchema, structuralSchema } from './crd.ts';
import { clusterKinds } from './kinds.ts';

/** Every "a.b.c" that a schema names, lists and maps passed through. */
function* named(schema: object, path = ''): Generator<string> {
  const { properties = {}, items } = schema as {
    readonly properties?: Readonly<Record<string, object>>;
    readonly items?: object;
  };
  if (items) yield* named(items, path);
  for (const [name, inner] of Object.entries(properties)) {
    yield `${path}.${name}`;
    yield* named(inner, `${path}.${name}`);
  }
}

const schemas = clusterKinds.flatMap((kind) =>
  crd(kind).spec.versions.map(({ schema }) => schema.openAPIV3Schema),
);

test('no definition preserves unknown fields', () => {
  expect(schemas).toHaveLength(clusterKinds.length);
  expect(JSON.stringify(schemas)).not.toContain('preserve-unknown-fields');
});

test('the fields of older manifests are named', () => {
  const all = new Set(schemas.flatMap((schema) => [...named(schema)]));
  for (const field of [
    '.spec.processor.externalIP',
    '.spec.processor.externalAddress',
    '.spec.processor.externalPort',
    '.spec.processor.path',
    '.spec.processor.scheme',
    '.spec.dependences',
    '.spec.storage.hostPath.path',
    '.spec.adjacencyList.dependences',
    '.spec.targetSelector.podReferences.container',
    '.status.checkpoint.synchronizedTasks',
    '.status.context.operations',
  ]) {
    expect(all, field).toContain(field);
  }
});

test('what an approval is compared by is named, or an API server would drop it', () => {
  const all = new Set(schemas.flatMap((schema) => [...named(schema)]));
  expect(all).toContain('.status.plannedActions.plan');
  expect(all).toContain('.status.plannedActions.digest');
});

/** Every field below spec and status that `kubectl explain` would show without a description. */
function* undescribed(schema: StructuralSchema, path: string): Generator<string> {
  const { properties = {}, items, additionalProperties } = schema;
  if (items) yield* undescribed(items, `${path}[]`);
  if (additionalProperties) yield* undescribed(additionalProperties, `${path}.*`);
  for (const [name, inner] of Object.entries(properties)) {
    if (!inner.description) yield `${path}.${name}`;
    yield* undescribed(inner, `${path}.${name}`);
  }
}

test.each(clusterKinds)('every field of $kind has a description', (kind) => {
  const parts = Object.entries({ spec: kind.spec, status: kind.status });
  const properties = Object.fromEntries(
    parts.flatMap(([name, part]) => (part ? [[name, structuralSchema(part)] as const] : [])),
  );
  expect([...undescribed({ properties }, kind.kind)]).toEqual([]);
});
