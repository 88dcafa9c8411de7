import * as z from 'zod';
import { type DefinedKind, GROUP, VERSION } from './kinds.ts';

/** The CustomResourceDefinition of a kind, as `kubectl apply` accepts it. */
export function crd(kind: DefinedKind) {
  const { plural, shortNames, scope, columns, status, selectableFields } = kind;
  const singular = kind.kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${GROUP}`,
      labels: { 'app.kubernetes.io/part-of': 'kubediag' },
    },
    spec: {
      group: GROUP,
      scope,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames,
        categories: ['kubediag'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          ...(status ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns,
          ...(selectableFields
            ? { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }
            : {}),
          schema: { openAPIV3Schema: resourceSchema(kind) },
        },
      ],
    },
  };
}

function resourceSchema({ description, spec, status }: DefinedKind) {
  return {
    description,
    type: 'object',
    ...(spec ? { required: ['spec'] } : {}),
    properties: {
      // The API server has its own descriptions for the first three.
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...(spec ? { spec: structuralSchema(spec) } : {}),
      ...(status ? { status: structuralSchema(status) } : {}),
    },
  };
}

/** A schema as the API server takes it: no references, a type at every level. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly [keyword: string]: unknown;
}

const INT32_MAX = 2_147_483_647;

export function structuralSchema(schema: z.ZodType): StructuralSchema {
  // As input: what has a default need not be written.
  const created = z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0', reused: 'inline' });
  return structural(created as StructuralSchema);
}

function structural(created: StructuralSchema): StructuralSchema {
  const { $schema: _, properties, additionalProperties, items, pattern, anyOf, ...rest } = created;
  const isTime = rest.format === 'date-time';
  const { maximum } = rest;
  const isInt32 = typeof maximum === 'number' && maximum <= INT32_MAX;
  // The API server knows the types of these, and refuses bounds beside them.
  const isUnion = anyOf !== undefined && rest['x-kubernetes-int-or-string'] !== true;
  return {
    ...rest,
    ...(isUnion ? { anyOf } : {}),
    // The API server knows what a time is; the pattern of the library is a page long.
    ...(pattern === undefined || isTime ? {} : { pattern }),
    ...(rest.type === 'integer' && isInt32 ? { format: 'int32' } : {}),
    ...(items === undefined ? {} : { items: structural(items) }),
    ...fieldsOf(properties, additionalProperties),
  };
}

function fieldsOf(
  properties: StructuralSchema['properties'],
  others: StructuralSchema | undefined,
): StructuralSchema {
  if (!properties) return others === undefined ? {} : { additionalProperties: structural(others) };
  const named = Object.entries(properties).map(([name, each]) => [name, structural(each)] as const);
  return { properties: Object.fromEntries(named) };
}
