import { UsageError } from '../../../lib/terminal/terminal.ts';

/** A template such as `{range .items[*]}{.metadata.name}{"\n"}{end}`, in the language of kubectl. */
export type JsonPathTemplate = readonly Part[];

export type Part =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'path'; readonly path: JsonPath }
  | { readonly is: 'range'; readonly over: JsonPath; readonly parts: JsonPathTemplate };

/** Steps from one value to others, each taken from all that the step before led to. */
export type JsonPath = readonly Step[];

export type Step = (from: readonly unknown[]) => readonly unknown[];

/** What a template says of a value. A field that is not there says nothing. */
export function jsonPathText(template: JsonPathTemplate, value: unknown): string {
  return template
    .map((part) => {
      if (part.is === 'text') return part.text;
      const found = valuesAt(part.is === 'path' ? part.path : part.over, value);
      if (part.is === 'path') return found.map(valueText).join(' ');
      return found.map((each) => jsonPathText(part.parts, each)).join('');
    })
    .join('');
}

/** All values that a template leads to, without the texts between them. */
export function jsonPathValues(template: JsonPathTemplate, value: unknown): readonly unknown[] {
  return template.flatMap((part) => {
    if (part.is === 'text') return [];
    if (part.is === 'path') return valuesAt(part.path, value);
    return valuesAt(part.over, value).flatMap((each) => jsonPathValues(part.parts, each));
  });
}

export function valuesAt(path: JsonPath, value: unknown): readonly unknown[] {
  return path.reduce((from: readonly unknown[], step) => step(from), [value]);
}

/** A text as it is, anything with parts as JSON, letter by letter as kubectl writes it. */
export function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(inOrder(value)).replace(/[<>&]/g, (each) => HTML_ESCAPES[each] ?? each);
}

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
};

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(pairs.map(([name, each]) => [name, inOrder(each)]));
}

export function fieldStep(name: string): Step {
  return (from) =>
    from.flatMap((value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
      return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
    });
}

export const wildcardStep: Step = (from) => from.flatMap(childrenOf);

/** To the values, their parts, and theirs. */
export const descendStep: Step = (from) => from.flatMap(allBelow);

export function literalStep(value: string | number | boolean): Step {
  return () => [value];
}

export function unionStep(paths: readonly JsonPath[]): Step {
  return (from) => paths.flatMap((path) => from.flatMap((value) => valuesAt(path, value)));
}

function childrenOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function allBelow(value: unknown): readonly unknown[] {
  const hasParts = typeof value === 'object' && value !== null;
  return hasParts ? [value, ...childrenOf(value).flatMap(allBelow)] : [];
}

/** `[2]` is the slice from 2 to 3: an index beyond the list is an error, as in kubectl. */
export function sliceStep(start: number, to: number | undefined, every: number): Step {
  return eachList('is not a list', (list) => {
    const { length } = list;
    const fromStart = (at: number) => (at < 0 ? at + length : at);
    const first = fromStart(start);
    const end = to === undefined ? length : fromStart(to);
    if (first === end) return [];
    const outside = [first, end - 1].find((at) => at < 0 || at >= length);
    if (outside !== undefined) {
      throw failure(`array index out of bounds: index ${outside}, length ${length}`);
    }
    if (first > end) {
      throw failure(`starting index ${first} is greater than ending index ${end}`);
    }
    return list.slice(first, end).filter((_, at) => at % every === 0);
  });
}

/** Both are texts, numbers or booleans. */
type Comparison = (left: string, right: string) => boolean;

export const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '<=': (left, right) => left <= right,
  '>=': (left, right) => left >= right,
};

/** Without a comparison: whether there is anything at `left`. */
export function filterStep(
  left: JsonPath,
  comparison: Comparison | undefined,
  right: JsonPath,
): Step {
  const isWanted = (value: unknown) => {
    const lefts = valuesAt(left, value);
    if (!comparison) return lefts.length > 0;
    const rights = valuesAt(right, value);
    if (lefts.length > 1 || rights.length > 1) {
      throw failure('can only compare one element at a time');
    }
    if (lefts.length === 0 || rights.length === 0) return false;
    const [one, other] = [lefts[0], rights[0]];
    if (typeof one !== typeof other || typeof one === 'object') {
      throw failure('incompatible types for comparison');
    }
    return comparison(one as string, other as string);
  };
  return eachList('is not a list and cannot be filtered', (list) => list.filter(isWanted));
}

/** A missing value leads nowhere; one of another type is an error. */
function eachList(problem: string, of: (list: readonly unknown[]) => readonly unknown[]): Step {
  return (from) =>
    from.flatMap((value) => {
      if (value === null || value === undefined) return [];
      if (Array.isArray(value)) return of(value);
      throw failure(`${typeof value === 'object' ? 'an object' : `a ${typeof value}`} ${problem}`);
    });
}

function failure(why: string): UsageError {
  return new UsageError(`error executing jsonpath: ${why}`);
}
