import type { TextValue } from '../../../lib/std/json.ts';
import { CONFIG_CHARACTERS_MAX, YAML_ALIASES_MAX } from '../limits.ts';
import { yamlDocuments } from './yaml-documents.ts';

/** The value of a YAML text; JSON is a subset. Only for short texts, because it is slow. */
export function yamlValue(text: string, charactersMax = CONFIG_CHARACTERS_MAX): TextValue {
  if (text.length > charactersMax) return undefined;
  try {
    const limits = { aliasesMax: YAML_ALIASES_MAX, errorsMax: 0 };
    const [document, ...others] = yamlDocuments(text, limits);
    if (others.length > 0) return undefined;
    // A text with only comments has no document.
    const value: unknown = document?.toJS({ maxAliasCount: YAML_ALIASES_MAX }) ?? null;
    return { value };
  } catch {
    return undefined;
  }
}
