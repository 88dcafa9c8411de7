import * as z from 'zod';
import { isNearly } from '../std/is-nearly.ts';
import type { Place, Problem } from './problem.ts';

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
  const made = z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0', reused: 'inline' });
  return structural(made as StructuralSchema);
}

function structural(made: StructuralSchema): StructuralSchema {
  const { $schema: _, properties, additionalProperties, items, pattern, ...rest } = made;
  const isTime = rest.format === 'date-time';
  const { maximum } = rest;
  const isInt32 = typeof maximum === 'number' && maximum <= INT32_MAX;
  return {
    ...rest,
    // The API server knows what a time is; the pattern of the library is a page long.
    ...(pattern === undefined || isTime ? {} : { pattern }),
    ...(rest.type === 'integer' && isInt32 ? { format: 'int32' } : {}),
    ...(items === undefined ? {} : { items: structural(items) }),
    ...(properties === undefined
      ? mapOf(additionalProperties)
      : { properties: mapped(properties), 'x-kubernetes-preserve-unknown-fields': true }),
  };
}

function mapOf(values: StructuralSchema | undefined): object {
  return values === undefined ? {} : { additionalProperties: structural(values) };
}

function mapped(properties: Readonly<Record<string, StructuralSchema>>) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, structural(schema)]),
  );
}

/** Fields that we keep and nobody reads: most often a name that was mistyped. */
export function unknownFields(
  schema: StructuralSchema,
  value: unknown,
  place: Place,
): readonly Problem[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return [];
    return value.flatMap((item, index) => unknownFields(items, item, [...place, index]));
  }
  if (typeof value !== 'object' || value === null) return [];
  const { properties, additionalProperties } = schema;
  return Object.entries(value).flatMap(([key, inner]) => {
    const isDeclared = !properties || Object.hasOwn(properties, key);
    const known = isDeclared ? (properties?.[key] ?? additionalProperties) : undefined;
    if (known) return unknownFields(known, inner, [...place, key]);
    return properties ? [unknownField(Object.keys(properties), [...place, key], key)] : [];
  });
}

function unknownField(known: readonly string[], place: Place, key: string): Problem {
  const meant = known.find((name) => isNearly(name, key));
  return {
    severity: 'note',
    place,
    what: 'no such field is known; it is kept, and nothing reads it',
    fix: meant === undefined ? `known are: ${known.join(', ')}` : `did you mean "${meant}"?`,
  };
}
