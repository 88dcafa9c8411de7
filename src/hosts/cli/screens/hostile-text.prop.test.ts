import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonText } from '../../../lib/std/json.ts';
import { styledText, terminalText } from '../../../lib/std/terminal-text.ts';
import { yamlText } from './show-report.ts';

/** What a pod can choose: ESC, C1 controls, direction marks, separators, tags, and plain text. */
const hostile = fc.string({
  unit: fc.constantFrom(
    ...'\x1b\x00\x07\r\n\t\x7f\x85\x9b\u00ad\u061c\u200b\u200f\u202e\u2028\u2029\u2066\ufeff'.split(
      '',
    ),
    '\u{e0041}',
    '\u{1d173}',
    '\x1b[31m',
    ...'ab: -#"\'\\{[&*!|>%@`é漢'.split(''),
  ),
  maxLength: 30,
});

const ACTIVE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    hostile,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(hostile, tie('any'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;

test('JSON and YAML hold nothing that acts on a terminal, and mean the same', async () => {
  await fc.assert(
    fc.asyncProperty(value, async (each) => {
      for (const indent of [0, 2]) {
        const json = jsonText(each, indent);
        expect(json).not.toMatch(ACTIVE);
        expect(JSON.parse(json)).toEqual(each);
      }
      const yaml = await yamlText({ each });
      expect(yaml).not.toMatch(ACTIVE);
      expect(parse(yaml)).toEqual({ each });
    }),
    { numRuns: 300 },
  );
});

test('on a terminal only our own styles, line breaks and tabs are left', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(terminalText(text)).not.toMatch(ACTIVE);
      const shown = styledText(text);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal gets.
      expect(shown.replaceAll(/\x1b\[31m/g, '')).not.toMatch(ACTIVE);
    }),
  );
  expect(styledText('\x1b[1mNAME\x1b[22m\t\u202egpj\x1b]0;x\x07\n')).toBe(
    '\x1b[1mNAME\x1b[22m\t\\x202egpj\\x1b]0;x\\x07\n',
  );
});
