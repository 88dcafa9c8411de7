import { isNearly } from '../../lib/std/is-nearly.ts';
import type { StructuralSchema } from './crd.ts';
import { note, type Place, type Problem, problem } from './problem.ts';

/** What happens to an object with unknown fields, as the Kubernetes API names it. */
export const FIELD_VALIDATIONS = ['Strict', 'Warn', 'Ignore'] as const;
export type FieldValidation = (typeof FIELD_VALIDATIONS)[number];

/** Fields that the schema does not name: most often a name that was mistyped. */
export function unknownFields(
  schema: StructuralSchema,
  value: unknown,
  validation: FieldValidation,
): readonly Problem[] {
  if (validation === 'Ignore') return [];
  const report = (place: Place, fix: string) =>
    validation === 'Strict'
      ? problem(place, UNKNOWN_FIELD, fix)
      : note(place, 'unknown field, dropped', fix);
  return [...unknownPlaces(schema, value, [])].map(({ place, known }) =>
    report(place, fixFor(String(place.at(-1)), known)),
  );
}

export const UNKNOWN_FIELD = 'unknown field';

function* unknownPlaces(
  { properties, additionalProperties, items }: StructuralSchema,
  value: unknown,
  place: Place,
): Generator<{ readonly place: Place; readonly known: readonly string[] }> {
  if (Array.isArray(value)) {
    if (!items) return;
    for (const [index, item] of value.entries()) {
      yield* unknownPlaces(items, item, [...place, index]);
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const isNamed = properties !== undefined && Object.hasOwn(properties, key);
    const schema = isNamed ? properties[key] : additionalProperties;
    if (schema) yield* unknownPlaces(schema, inner, [...place, key]);
    else if (properties) yield { place: [...place, key], known: Object.keys(properties) };
  }
}

function fixFor(key: string, known: readonly string[]): string {
  const meant = known.find((name) => isNearly(name, key));
  return meant === undefined ? `known fields: ${known.join(', ')}` : `did you mean "${meant}"?`;
}
