import { parse } from 'yaml';
import { CONFIG_CHARACTERS_MAX, YAML_ALIASES_MAX } from './limits.ts';

/** What a text means, when it means anything. The parsers throw; that the text is bad is an answer. */
export type TextValue = { readonly value: unknown } | undefined;

/** YAML, of which JSON is a part. For short texts only: it is slow. */
export function yamlValue(text: string, charactersMax = CONFIG_CHARACTERS_MAX): TextValue {
  if (text.length > charactersMax) return undefined;
  try {
    const value: unknown = parse(text, {
      logLevel: 'error',
      prettyErrors: false,
      uniqueKeys: false,
      maxAliasCount: YAML_ALIASES_MAX,
    });
    return { value };
  } catch {
    return undefined;
  }
}

export function jsonValue(text: string): TextValue {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
