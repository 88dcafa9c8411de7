import { countJson, JsonLimitError, parseJson } from '../../../lib/std/parse-json.ts';
import { CONFIG_CHARACTERS_MAX, YAML_ALIASES_MAX } from '../limits.ts';
import { yamlDocuments } from './yaml-documents.ts';

/** What a text means, when it means anything. The parsers throw; that the text is bad is an answer. */
export type TextValue = { readonly value: unknown } | undefined;

/** YAML, of which JSON is a part. For short texts only: it is slow. */
export function yamlValue(text: string, charactersMax = CONFIG_CHARACTERS_MAX): TextValue {
  if (text.length > charactersMax) return undefined;
  try {
    const limits = { aliasesMax: YAML_ALIASES_MAX, errorsMax: 0 };
    const [document, ...others] = yamlDocuments(text, limits);
    if (others.length > 0) return undefined;
    // Of a text of comments alone there is none.
    const value: unknown = document?.toJS({ maxAliasCount: YAML_ALIASES_MAX }) ?? null;
    return { value };
  } catch {
    return undefined;
  }
}

/** Which limit a text goes beyond that would be JSON otherwise; undefined when it is only no JSON. */
export function jsonLimit(text: string): string | undefined {
  try {
    countJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof JsonLimitError) return error.message;
    throw error;
  }
}

export function jsonValue(text: string): TextValue {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}
