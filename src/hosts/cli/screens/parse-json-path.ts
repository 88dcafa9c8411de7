import { UsageError } from '../../../lib/terminal/terminal.ts';

/** A template such as `{range .items[*]}{.metadata.name}{"\n"}{end}`, in the language of kubectl. */
export type JsonPathTemplate = readonly Part[];

type Part =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'path'; readonly path: JsonPath }
  | { readonly is: 'range'; readonly over: JsonPath; readonly parts: JsonPathTemplate };

/** Steps from one value to others, each taken from all that the step before led to. */
export type JsonPath = readonly Step[];

export type Step =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'wildcard' }
  | { readonly is: 'descend' }
  | { readonly is: 'literal'; readonly value: string | number | boolean }
  | Slice
  | { readonly is: 'union'; readonly paths: readonly JsonPath[] }
  | Filter;

/** `[2]` is the slice from 2 to 3: an index beyond the list is an error, as in kubectl. */
export interface Slice {
  readonly is: 'slice';
  readonly from: number;
  readonly to: number | undefined;
  readonly step: number;
}

export interface Filter {
  readonly is: 'filter';
  readonly left: JsonPath;
  /** undefined: whether there is anything at `left`. */
  readonly operator: Operator | undefined;
  readonly right: JsonPath;
}

const OPERATORS = ['==', '!=', '<=', '>=', '<', '>'] as const;
type Operator = (typeof OPERATORS)[number];

/** A text with actions in braces, as `-o jsonpath` takes it. */
export function parseJsonPath(template: string): JsonPathTemplate {
  const reader = new Reader(template, template);
  const { parts, isEnded } = partsOf(reader);
  if (isEnded) throw reader.error('not in range, nothing to end');
  return parts;
}

// .metadata.name, metadata.name, {.metadata.name}, {metadata.name}
const ONE_PATH = /^\{\s*\.?([^{}]+?)\s*\}$|^\.?([^{}]+)$/;

/** One path, with or without braces and the first dot, as columns and --sort-by take it. */
export function parseOnePath(text: string): JsonPath {
  const [, inBraces, bare] = ONE_PATH.exec(text) ?? [];
  const inner = inBraces ?? bare;
  if (inner === undefined) {
    throw new UsageError(
      `unexpected path string "${text}", expected a 'name1.name2' or '.name1.name2' or ` +
        `'{name1.name2}' or '{.name1.name2}'`,
    );
  }
  // [0].name and @.name need no dot before them.
  return stepsOf(new Reader(/^[[@$]/.test(inner) ? inner : `.${inner}`, text), false);
}

/** The text of a template, read from left to right. */
class Reader {
  readonly text: string;
  readonly #whole: string;
  at = 0;

  constructor(text: string, whole: string) {
    this.text = text;
    this.#whole = whole;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Takes what stands here, if it is this; the pattern must be sticky. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  error(why: string): UsageError {
    return new UsageError(`error parsing jsonpath ${this.#whole}, ${why}`);
  }

  /** For a piece of the same template. */
  of(text: string): Reader {
    return new Reader(text, this.#whole);
  }
}

/** Up to `{end}`, or to the end of the template: kubectl takes a range without an end too. */
function partsOf(reader: Reader): { readonly parts: JsonPathTemplate; readonly isEnded: boolean } {
  const parts: Part[] = [];
  while (!reader.isAtEnd) {
    const text = reader.take(/[^{]+/y)?.[0];
    if (text !== undefined) parts.push({ is: 'text', text });
    else if (reader.take(/\{\s*end\s*\}/y)) return { parts, isEnded: true };
    else if (reader.take(/\{\s*range\b/y)) {
      const over = stepsOf(reader, true);
      parts.push({ is: 'range', over, parts: partsOf(reader).parts });
    } else {
      reader.at += 1;
      parts.push({ is: 'path', path: stepsOf(reader, true) });
    }
  }
  return { parts, isEnded: false };
}

function stepsOf(reader: Reader, isAction: boolean): JsonPath {
  const steps: Step[] = [];
  for (;;) {
    // Spaces, and "@" or "$" for the value itself, lead nowhere.
    reader.take(/[ \t@$]+/y);
    if (reader.isAtEnd || reader.take(/[\r\n]/y)) {
      if (isAction) throw reader.error('unclosed action');
      return steps;
    }
    if (isAction && reader.take(/\}/y)) return steps;
    steps.push(...stepAt(reader));
  }
}

// .name, .annotations\.of\.others, .*, and the dot alone
const FIELD = /\.((?:\\.|[^\\.,[\]$@{}\s])*)/y;
// ..name, ..[0], ..
const DESCEND = /\.\.([\w-]*)/y;
// "\n", 'a text'
const QUOTED = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'/y;

function stepAt(reader: Reader): readonly Step[] {
  const descend = reader.take(DESCEND);
  if (descend) {
    const [, name = ''] = descend;
    if (reader.take(/\.\./y)) throw reader.error('invalid multiple recursive descent');
    return [{ is: 'descend' }, ...(name === '' ? [] : [{ is: 'field', name } as const])];
  }
  const field = reader.take(FIELD);
  if (field) {
    const [, name = ''] = field;
    if (name === '*') return [{ is: 'wildcard' }];
    return name === '' ? [] : [{ is: 'field', name: name.replaceAll('\\', '') }];
  }
  if (reader.take(/\[\?\(/y)) return [filterOf(reader)];
  if (reader.take(/\[/y)) return subscriptOf(reader);
  const quoted = reader.take(QUOTED);
  if (quoted) {
    const [, double, single = ''] = quoted;
    return [{ is: 'literal', value: unescaped(double ?? single) }];
  }
  const number = reader.take(/[+-]?\d+(?:\.\d+)?/y);
  if (number) return [{ is: 'literal', value: Number(number[0]) }];
  const word = reader.take(/\w+/y)?.[0];
  if (word === 'true' || word === 'false') return [{ is: 'literal', value: word === 'true' }];
  if (word !== undefined) throw reader.error(`unrecognized identifier ${word}`);
  const character = reader.text[reader.at] ?? '';
  const isQuote = character === '"' || character === "'";
  throw reader.error(
    isQuote ? 'unterminated quoted string' : `unrecognized character in action: '${character}'`,
  );
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

// \n, \", \u0041, \x41
const ESCAPE = /\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/gi;

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, four?: string, two?: string, character: string = '') => {
    const number = four ?? two;
    if (number !== undefined) return String.fromCharCode(Number.parseInt(number, 16));
    return ESCAPES[character] ?? character;
  });
}

// What follows the bracket in .items[0], ['metadata.name'], [0,2], [1:3], [*]
const SUBSCRIPT = /((?:'[^']*'|[^\]\n'])*)\]/y;

function subscriptOf(reader: Reader): readonly Step[] {
  const inner = reader.take(SUBSCRIPT)?.[1]?.trim();
  if (inner === undefined) throw reader.error('unterminated array');
  const several = inner.match(/(?:'[^']*'|[^,'])+/g) ?? [];
  if (several.length > 1) {
    const paths = several.map((each) => subscriptOf(reader.of(`${each.trim()}]`)));
    return [{ is: 'union', paths }];
  }
  if (inner === '*') return [{ is: 'slice', from: 0, to: undefined, step: 1 }];
  const key = /^'([^']*)'$/.exec(inner)?.[1];
  // As in kubectl, ['metadata.name'] is the name of the metadata; a dot within a name is escaped.
  if (key !== undefined) return stepsOf(reader.of(`.${key}`), false);
  return [sliceOf(inner, reader)];
}

// 0, -1, 1:3, :2, -2:, 0:10:2
const SLICE = /^(-?\d+)?(:(-?\d+)?)?(:(-?\d+)?)?$/;

function sliceOf(text: string, reader: Reader): Slice {
  const [found, from, colon, to, , step] = SLICE.exec(text) ?? [];
  if (!found) throw reader.error(`invalid array index ${text}`);
  const first = Number(from ?? 0);
  // Behind the last comes the end of the list, and not its start.
  const behind = colon === undefined && first !== -1 ? first + 1 : undefined;
  const every = step === undefined ? 1 : Number(step);
  if (every <= 0) throw reader.error('step must be > 0');
  return { is: 'slice', from: first, to: to ? Number(to) : behind, step: every };
}

// What follows "[?(" in [?(@.type=="Complete")] and [?(@.name)]
const CONDITION = /((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[^\]]*\]|[^"'()\n])*)\)\]/y;
// @.type=="Complete"
const COMPARED = /^([^!<>=]+)([!<>=]+)(.+)$/s;

function filterOf(reader: Reader): Filter {
  const inner = reader.take(CONDITION)?.[1];
  if (inner === undefined) throw reader.error('unterminated filter');
  const [, left = inner, operator, right = ''] = COMPARED.exec(inner) ?? [];
  const known = OPERATORS.find((each) => each === operator);
  if (operator !== undefined && known === undefined) {
    throw reader.error(`unrecognized filter operator ${operator}`);
  }
  const part = (text: string) => stepsOf(reader.of(text.trim()), false);
  return { is: 'filter', left: part(left), operator: known, right: part(right) };
}
