import * as z from 'zod';

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
  const { $schema: _, properties, additionalProperties, items, pattern, ...rest } = created;
  const isTime = rest.format === 'date-time';
  const { maximum } = rest;
  const isInt32 = typeof maximum === 'number' && maximum <= INT32_MAX;
  return {
    ...rest,
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
  const named = Object.entries(properties).map(([name, each]) => [name, structural(each)]);
  return { properties: Object.fromEntries(named) };
}
