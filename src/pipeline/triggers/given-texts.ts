import { fieldAt } from '../../lib/std/json.ts';
import { TEXT_CHARACTERS_MAX } from './limits.ts';

/** A parsed value, or why it is malformed. */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

export type Texts = Readonly<Record<string, string>>;

/** String fields; an absent one is empty. */
export function givenTexts<K extends string>(
  value: unknown,
  fields: readonly K[],
): Read<Readonly<Record<K, string>>> {
  const given = fields.map((field) => [field, fieldAt(value, field) ?? ''] as const);
  const why = wrongIn(given);
  if (why !== undefined) return { ok: false, why };
  return { ok: true, value: Object.fromEntries(given) as Record<K, string> };
}

/** A map of strings; an absent one is empty. */
export function givenMap(value: unknown, field: string): Read<Texts> {
  const map = fieldAt(value, field) ?? {};
  if (typeof map !== 'object' || Array.isArray(map)) {
    return { ok: false, why: `"${field}" is not an object of strings` };
  }
  const why = wrongIn(Object.entries(map));
  return why === undefined ? { ok: true, value: map as Texts } : { ok: false, why };
}

function wrongIn(pairs: readonly (readonly [string, unknown])[]): string | undefined {
  for (const [name, text] of pairs) {
    if (typeof text !== 'string') return `"${name}" is not a string`;
    const { length } = text;
    if (length > TEXT_CHARACTERS_MAX) {
      return `"${name}" has ${length} characters, and the limit is ${TEXT_CHARACTERS_MAX}`;
    }
  }
  return undefined;
}
