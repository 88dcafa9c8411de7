import { expect, test } from 'vitest';
import { type YamlLimitError, yamlDocuments } from './yaml-documents.ts';
import { yamlValue } from './yaml-value.ts';

const LIMITS = { aliasesMax: 2, errorsMax: 3 };
const read = (text: string) => yamlDocuments(text, LIMITS);
const messagesIn = (text: string) =>
  read(text).flatMap(({ errors }) => errors.map(({ message }) => message));

test.each([
  ['brackets', `${'['.repeat(101)}${']'.repeat(101)}`, 'nested more than 100 levels deep'],
  ['brackets that stay open', '{a: '.repeat(50_000), 'nested more than 100 levels deep'],
  ['lists in lists', '- '.repeat(50_000), 'nested more than 100 levels deep'],
  ['keys of keys', '? '.repeat(50_000), 'nested more than 100 levels deep'],
  ['aliases', `a: &a 1\nb: [${'*a, '.repeat(101)}]\n`, 'too many aliases'],
  ['documents', '--- 1\n'.repeat(10_001), 'more than 10000 documents'],
  ['errors', `{${','.repeat(20_000)}}`, 'Unexpected'],
  ['brackets that were never open', ']'.repeat(100_000), 'Unexpected'],
])(
  'too many %s are not read',
  (_, text, why) => {
    expect(() => read(text)).toThrow(why);
    expect(yamlValue(text)).toBeUndefined();
  },
  20_000,
);

test('too many tokens are an error', () => {
  expect(() => yamlDocuments('a: 1\n'.repeat(10), { ...LIMITS, tokensMax: 50 })).toThrow(
    'more than 50 parts',
  );
});

test('the error names the line of the limit', () => {
  try {
    read(`a: 1\nb: ${'['.repeat(200)}`);
    expect.unreachable();
  } catch (error) {
    expect((error as YamlLimitError).offset).toBe('a: 1\nb: '.length + 99);
  }
});

test('reads a text within the limits, including stars in strings', () => {
  const text = 'a: &a [1, "*x"]\nb: *a\nc: |\n  *one\n  *two\n  *three\nd: "*"\n';
  expect(read(text).map((document) => document.toJS() as unknown)).toEqual([
    { a: [1, '*x'], b: [1, '*x'], c: '*one\n*two\n*three\n', d: '*' },
  ]);
  expect(read('--- |\n*one\n'.repeat(3)).map((document) => document.toJS() as unknown)).toEqual(
    Array(3).fill('*one\n'),
  );
  expect(read(`${'['.repeat(98)}${']'.repeat(98)}`)).toHaveLength(1);
});

test('a warning of the library is not an error', () => {
  const text = '[!x 1, !x 2, !x 3, !x 4]\n';
  expect(messagesIn(text)).toEqual([]);
  expect(read(text)[0]?.warnings).toEqual([]);
});

test('reports a duplicate key among very many', () => {
  const keys = Array.from(Array(80_000).keys(), (number) => `k${number}: 1\n`).join('');
  expect(messagesIn(`${keys}k7: 2\n`)).toEqual(['key "k7" already set in map']);
  expect(messagesIn('a: {b: 1, b: 2}\n"1": 1\n1: 2\n')).toEqual(['key "b" already set in map']);
}, 45_000);

test('a key that is a list or a map is an error, because converting it takes too long', () => {
  expect(messagesIn('? [1, 2]\n: 3\n')).toEqual(['A map key must not be a list or a map']);
  const nested = `[${Array(400)
    .fill(`${'{['.repeat(49)}${'],}'.repeat(49)}`)
    .join(',')}]`;
  expect(yamlValue(nested)).toBeUndefined();
}, 20_000);
