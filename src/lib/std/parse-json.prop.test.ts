import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countJson, duplicateKeys, JsonLimitError, parseJson } from './parse-json.ts';

const FEW = { depthMax: 3, valuesMax: 5 };

test('gives the same value as JSON.parse, and rejects the same texts', () => {
  const written = fc.tuple(fc.jsonValue(), fc.constantFrom(0, 2));
  fc.assert(
    fc.property(written, ([value, indent]) => {
      const text = JSON.stringify(value, null, indent);
      expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(value));
    }),
  );
  const almost = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n1a'.split('')) });
  fc.assert(
    fc.property(almost, (text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        expect(() => parseJson(text)).toThrow(SyntaxError);
        return;
      }
      expect(parseJson(text)).toEqual(value);
    }),
  );
});

test('no value has more values in it, or is deeper, than was counted', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(countJson(JSON.stringify(value))).toBeGreaterThanOrEqual(sizeOf(value));
    }),
  );
});

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + sizeOf(each), 1);
}

test.each([
  ['as deep as it may be', '[[[1]]]', true],
  ['deeper', '[[[[1]]]]', false],
  ['deeper, and never closed', '[[[[', false],
  ['deep within a text', '["[[[[[[", "\\"[[[[["]', true],
  ['as many as there may be', '[1,2,3,4]', true],
  ['more', '[1,2,3,4,5]', false],
  ['many within a text', '[",,,,,,,"]', true],
])('%s', (_, text, isWithin) => {
  if (isWithin) expect(parseJson(text, FEW)).toEqual(JSON.parse(text));
  else expect(() => parseJson(text, FEW)).toThrow(JsonLimitError);
});

test('text after the value, or after an unterminated string, is not counted', () => {
  for (const text of ['[1]', '["a\n']) {
    const more = `${text}${'['.repeat(1_000)}`;
    expect(countJson(more)).toBe(countJson(text));
    expect(() => parseJson(more)).toThrow(SyntaxError);
  }
});

test('only duplicate keys are found, with their path', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([...duplicateKeys(JSON.stringify(value))]).toEqual([]);
      expect([...duplicateKeys(`[0,{"a":${JSON.stringify(value)},"a":1}]`)]).toEqual([[1, 'a']]);
    }),
  );
});
