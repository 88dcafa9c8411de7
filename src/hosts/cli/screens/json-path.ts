import { UsageError } from '../../../lib/terminal/terminal.ts';
import type { Filter, JsonPath, JsonPathTemplate, Slice, Step } from './parse-json-path.ts';

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
  return path.reduce((from: readonly unknown[], step) => afterStep(step, from), [value]);
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

function afterStep(step: Step, from: readonly unknown[]): readonly unknown[] {
  switch (step.is) {
    case 'field':
      return from.flatMap((value) => fieldOf(value, step.name));
    case 'wildcard':
      return from.flatMap(childrenOf);
    case 'descend':
      return from.flatMap(allBelow);
    case 'literal':
      return [step.value];
    case 'slice':
      return from.flatMap((value) => sliceFrom(value, step));
    case 'union':
      return step.paths.flatMap((path) => from.flatMap((value) => valuesAt(path, value)));
    case 'filter':
      return from.flatMap((value) => filtered(value, step));
  }
}

function fieldOf(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
}

function childrenOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** The value, its parts, and theirs. */
function allBelow(value: unknown): readonly unknown[] {
  const hasParts = typeof value === 'object' && value !== null;
  return hasParts ? [value, ...childrenOf(value).flatMap(allBelow)] : [];
}

function sliceFrom(value: unknown, { from, to, step }: Slice): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw failure(`${typeName(value)} is not a list`);
  const { length } = value;
  const fromStart = (at: number) => (at < 0 ? at + length : at);
  const first = fromStart(from);
  const end = to === undefined ? length : fromStart(to);
  if (first === end) return [];
  const outside = [first, end - 1].find((at) => at < 0 || at >= length);
  if (outside !== undefined) {
    throw failure(`array index out of bounds: index ${outside}, length ${length}`);
  }
  if (first > end) {
    throw failure(`starting index ${first} is greater than ending index ${end}`);
  }
  return value.slice(first, end).filter((_, at) => at % step === 0);
}

function filtered(value: unknown, filter: Filter): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) {
    throw failure(`${typeName(value)} is not a list and cannot be filtered`);
  }
  return value.filter((each) => isWanted(each, filter));
}

function isWanted(value: unknown, { left, operator, right }: Filter): boolean {
  const lefts = valuesAt(left, value);
  if (operator === undefined) return lefts.length > 0;
  const rights = valuesAt(right, value);
  if (lefts.length > 1 || rights.length > 1) {
    throw failure('can only compare one element at a time');
  }
  const [one] = lefts;
  const [other] = rights;
  if (lefts.length === 0 || rights.length === 0) return false;
  if (typeof one !== typeof other || typeof one === 'object') {
    throw failure('incompatible types for comparison');
  }
  // Both are texts, numbers or booleans by now.
  const [a, b] = [one as string, other as string];
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
  }
}

function failure(why: string): UsageError {
  return new UsageError(`error executing jsonpath: ${why}`);
}

function typeName(value: unknown): string {
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
