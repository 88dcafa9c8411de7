import type { TextValue } from '../../../lib/std/json.ts';
import { CONFIG_CHARACTERS_MAX, YAML_ALIASES_MAX } from '../limits.ts';
import { yamlDocuments } from './yaml-documents.ts';

/** The value of YAML, or of JSON, which is a subset of it. For short texts only: it is slow. */
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
