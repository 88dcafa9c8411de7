import type * as z from 'zod';
import { isNearly } from '../../lib/std/is-nearly.ts';
import { fieldAt } from '../../lib/std/json.ts';
import type { Problem } from './problem.ts';

type Issue = z.core.$ZodIssue;

/** An issue of the schema library as a problem with its fix. */
export function problemOf(issue: Issue, root: unknown): Problem {
  const place = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  return { severity: 'problem', place, ...wordsOf(issue, fieldAt(root, ...place.map(String))) };
}

type Words = Pick<Problem, 'what' | 'fix'>;

function wordsOf(issue: Issue, value: unknown): Words {
  switch (issue.code) {
    case 'invalid_type':
      return typeText(issue.expected, value);
    case 'invalid_value':
      return choiceText(issue.values, value);
    case 'too_small':
      return bounded('at least', issue.origin, issue.minimum, value);
    case 'too_big':
      return bounded('at most', issue.origin, issue.maximum, value);
    case 'custom':
      return { what: issue.message, fix: String(issue.params?.fix) };
    default:
      return { what: issue.message, fix: 'see the description of the field in the CRD' };
  }
}

function choiceText(values: readonly unknown[], value: unknown): Words {
  const what = `${JSON.stringify(value)} is not a known value`;
  const near = values.find((word) => isNearly(String(word), String(value)));
  if (near !== undefined) return { what, fix: `did you mean ${JSON.stringify(near)}?` };
  return { what, fix: `use ${values.map((word) => JSON.stringify(word)).join(' or ')}` };
}

function typeText(expected: string, value: unknown): Words {
  if (value === undefined) return { what: 'missing', fix: `set it to ${NOUNS[expected]}` };
  const isQuotable = expected === 'string' && typeof value !== 'object';
  return {
    what: `${nounOf(value)}, must be ${NOUNS[expected]}`,
    fix: isQuotable ? `quote it: "${JSON.stringify(value)}"` : `write ${NOUNS[expected]}`,
  };
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with fields',
  record: 'an object with fields',
};

function nounOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'not an integer';
  return NOUNS[typeof value] ?? typeof value;
}

const COUNTED: Readonly<Record<string, readonly [string, string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

function bounded(word: string, origin: string, bound: number | bigint, value: unknown): Words {
  const counted = COUNTED[origin];
  if (counted === undefined) {
    return { what: `${String(value)} is out of range`, fix: `write a number of ${word} ${bound}` };
  }
  const { length } = value as { readonly length: number };
  return { what: `${length} ${counted[length === 1 ? 0 : 1]}`, fix: `use ${word} ${bound}` };
}
