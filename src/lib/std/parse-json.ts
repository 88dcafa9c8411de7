import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from './limits.ts';

export interface JsonLimits {
  readonly depthMax: number;
  readonly valuesMax: number;
}

const LIMITS: JsonLimits = { depthMax: JSON_DEPTH_MAX, valuesMax: JSON_VALUES_MAX };

/** JSON that exceeds a limit. */
export class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError';
}

/** The value of JSON from outside. Throws a SyntaxError if it is invalid or exceeds a limit. */
export function parseJson(text: string, limits = LIMITS): unknown {
  countJson(text, limits);
  return JSON.parse(text) as unknown;
}

/**
 * The number of values in a JSON text, counted without parsing it. Throws beyond a limit. Ends
 * where JSON.parse would end: after the first value, or at an unterminated string.
 */
export function countJson(text: string, { depthMax, valuesMax } = LIMITS): number {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at);
        if (at < 0) return values;
        break;
      case BRACE:
      case BRACKET:
        depth += 1;
        values += 1;
        if (depth > depthMax) {
          throw new JsonLimitError(`nested more than ${depthMax} levels deep`);
        }
        break;
      case COMMA:
        values += 1;
        break;
      case BRACE_END:
      case BRACKET_END:
        depth -= 1;
        if (depth <= 0) return values;
    }
    if (values > valuesMax) throw new JsonLimitError(`more than ${valuesMax} values`);
  }
  return values;
}

/** The paths of duplicate keys in a JSON text. JSON.parse silently uses the last one. */
export function* duplicateKeys(text: string): Generator<readonly (string | number)[]> {
  const around: { readonly keys?: Set<string>; isAtKey: boolean; step: string | number }[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const inner = around.at(-1);
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfText(text, at);
        if (end < 0) return;
        if (inner?.keys && inner.isAtKey) {
          const key = JSON.parse(text.slice(at, end + 1)) as string;
          Object.assign(inner, { step: key, isAtKey: false });
          if (inner.keys.has(key)) yield around.map(({ step }) => step);
          inner.keys.add(key);
        }
        at = end;
        break;
      }
      case BRACE:
        around.push({ keys: new Set(), isAtKey: true, step: '' });
        break;
      case BRACKET:
        around.push({ isAtKey: false, step: 0 });
        break;
      case COMMA:
        if (inner?.keys) inner.isAtKey = true;
        else if (inner) inner.step = Number(inner.step) + 1;
        break;
      case BRACE_END:
      case BRACKET_END:
        around.pop();
    }
  }
}

/**
 * Gives each element of a list that is a field of a JSON object to `use`, parsed for itself, so
 * that a long list is never in memory as a whole. Says what came of it, in order. Undefined when
 * the text is no such object, or is one that only a full parse can recognise: nothing is known
 * then. Throws a SyntaxError when an element is no JSON, or the text goes beyond a limit.
 */
export function mapJsonItems<T>(
  text: string,
  field: string,
  use: (item: unknown) => T,
): readonly T[] | undefined {
  countJson(text);
  const list = listIn(text, `"${field}"`);
  if (!list) return undefined;
  const [start, end] = [list[0] as number, list.at(-1) as number];
  // With the elements taken out, what is left must be the same object with an empty list.
  const rest = restOf(`${text.slice(0, start)}${text.slice(end - 1)}`, field);
  if (!Array.isArray(rest) || rest.length > 0) return undefined;
  if (list.length === 2 && text.slice(start, end - 1).trim() === '') return [];
  return list
    .slice(1)
    .map((next, index) => use(JSON.parse(text.slice(list[index] as number, next - 1))));
}

function restOf(text: string, field: string): unknown {
  const rest = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  return rest?.[field];
}

/** How deep the elements of a list are that is a field of the outermost object. */
const ELEMENTS = 2;

/** Where the elements begin, each behind a "[" or a comma, and behind the "]" that ends them. */
function listIn(text: string, name: string): readonly number[] | undefined {
  let depth = 0;
  let places: number[] | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfSoundText(text, at);
        if (end < 0) return undefined;
        if (depth === 1 && end - at === name.length && text.startsWith(name, at)) {
          const start = listAfter(text, end);
          if (start !== undefined) places = [start];
        }
        at = end - 1;
        break;
      }
      case BRACE:
      case BRACKET:
        depth += 1;
        break;
      case COMMA:
        if (places && depth === ELEMENTS) places.push(at + 1);
        break;
      case BRACE_END:
      case BRACKET_END:
        depth -= 1;
        if (places && depth === ELEMENTS - 1) return [...places, at + 1];
    }
  }
  return undefined;
}

/** Behind the quote that ends the text which begins here; a quote behind a backslash does not. */
function endOfSoundText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return -1;
}

// "items": [
const LIST = /\s*:\s*\[/y;

/** Behind the bracket of the list that is the value of the name which ends here. */
function listAfter(text: string, end: number): number | undefined {
  LIST.lastIndex = end;
  return LIST.test(text) ? LIST.lastIndex : undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const SPACE = 0x20;

/** Where the text that begins here ends; -1 when it does not, as no line break stands in one. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) return at;
    if (character === BACKSLASH) at += 1;
    else if (character < SPACE) return -1;
  }
  return -1;
}
