import { countJson, JsonLimitError, parseJson } from './parse-json.ts';

/** The value of a text; undefined when the text is invalid. */
export type TextValue = { readonly value: unknown } | undefined;

export function jsonValue(text: string): TextValue {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/** Which limit of a JSON text is exceeded; undefined when none is, be it valid or not. */
export function jsonLimit(text: string): string | undefined {
  try {
    countJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof JsonLimitError) return error.message;
    throw error;
  }
}
