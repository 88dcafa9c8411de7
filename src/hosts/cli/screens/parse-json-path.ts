import { UsageError } from '../../../lib/terminal/terminal.ts';
import {
  COMPARISONS,
  descendStep,
  fieldStep,
  filterStep,
  type JsonPath,
  type JsonPathTemplate,
  literalStep,
  type Part,
  type Step,
  sliceStep,
  unionStep,
  wildcardStep,
} from './json-path.ts';

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
    return [descendStep, ...(name === '' ? [] : [fieldStep(name)])];
  }
  const field = reader.take(FIELD);
  if (field) {
    const [, name = ''] = field;
    if (name === '*') return [wildcardStep];
    return name === '' ? [] : [fieldStep(name.replaceAll('\\', ''))];
  }
  if (reader.take(/\[\?\(/y)) return [filterOf(reader)];
  if (reader.take(/\[/y)) return subscriptOf(reader);
  const quoted = reader.take(QUOTED);
  if (quoted) {
    const [, double, single = ''] = quoted;
    return [literalStep(unescaped(double ?? single))];
  }
  const number = reader.take(/[+-]?\d+(?:\.\d+)?/y);
  if (number) return [literalStep(Number(number[0]))];
  const word = reader.take(/\w+/y)?.[0];
  if (word === 'true' || word === 'false') return [literalStep(word === 'true')];
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
    return [unionStep(several.map((each) => subscriptOf(reader.of(`${each.trim()}]`))))];
  }
  if (inner === '*') return [sliceStep(0, undefined, 1)];
  const key = /^'([^']*)'$/.exec(inner)?.[1];
  // As in kubectl, ['metadata.name'] is the name of the metadata; a dot within a name is escaped.
  if (key !== undefined) return stepsOf(reader.of(`.${key}`), false);
  return [sliceOf(inner, reader)];
}

// 0, -1, 1:3, :2, -2:, 0:10:2
const SLICE = /^(-?\d+)?(:(-?\d+)?)?(:(-?\d+)?)?$/;

function sliceOf(text: string, reader: Reader): Step {
  const [found, from, colon, to, , step] = SLICE.exec(text) ?? [];
  if (!found) throw reader.error(`invalid array index ${text}`);
  const first = Number(from ?? 0);
  // Behind the last comes the end of the list, and not its start.
  const behind = colon === undefined && first !== -1 ? first + 1 : undefined;
  const every = step === undefined ? 1 : Number(step);
  if (every <= 0) throw reader.error('step must be > 0');
  return sliceStep(first, to ? Number(to) : behind, every);
}

// What follows "[?(" in [?(@.type=="Complete")] and [?(@.name)]
const CONDITION = /((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[^\]]*\]|[^"'()\n])*)\)\]/y;
// @.type=="Complete"
const COMPARED = /^([^!<>=]+)([!<>=]+)(.+)$/s;

function filterOf(reader: Reader): Step {
  const inner = reader.take(CONDITION)?.[1];
  if (inner === undefined) throw reader.error('unterminated filter');
  const [, left = inner, operator, right = ''] = COMPARED.exec(inner) ?? [];
  const comparison = operator === undefined ? undefined : COMPARISONS[operator];
  if (operator !== undefined && !comparison) {
    throw reader.error(`unrecognized filter operator ${operator}`);
  }
  const part = (text: string) => stepsOf(reader.of(text.trim()), false);
  return filterStep(part(left), comparison, part(right));
}
