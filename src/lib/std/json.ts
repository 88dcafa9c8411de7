import { countJson, JsonLimitError, type JsonLimits, parseJson } from './parse-json.ts';

/**
 * Reads a field of a value that came from outside. A missing field, or one of another type, is
 * `undefined`: the caller decides whether the complete answer is then malformed.
 */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const name of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const field = fieldAt(value, ...path);
  return typeof field === 'string' ? field : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const field = fieldAt(value, ...path);
  return typeof field === 'number' ? field : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] | undefined {
  const field = fieldAt(value, ...path);
  return Array.isArray(field) ? field : undefined;
}

/** An object with fields: no list, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a text; undefined if the text is invalid. */
export type TextValue = { readonly value: unknown } | undefined;

export function jsonValue(text: string, limits?: JsonLimits): TextValue {
  try {
    return { value: parseJson(text, limits) };
  } catch {
    return undefined;
  }
}

/** The limit that a JSON text exceeds; undefined if there is none, whether it is valid or not. */
export function jsonLimit(text: string, limits?: JsonLimits): string | undefined {
  try {
    countJson(text, limits);
    return undefined;
  } catch (error) {
    if (error instanceof JsonLimitError) return error.message;
    throw error;
  }
}

/**
 * JSON for users and programs. All control and format characters are escaped, also those that JSON
 * allows: the value is the same, and a terminal does not interpret them.
 */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(ACTIVE, escaped);
}

/** Line breaks occur only between values; JSON itself escapes them within a string. */
const ACTIVE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
