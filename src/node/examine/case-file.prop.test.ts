import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeFaults } from '../checkup/judge-faults.ts';
import { faults } from '../faults/index.ts';
import { caseFileOf, givenSnapshot } from './case-file.ts';
import { textKinds } from './text-kinds.ts';

const FOLDER = join(import.meta.dirname, '../../../test/loose-texts');
const TEXTS = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));

async function judged(...texts: readonly string[]) {
  const files = texts.map((text, at) => ({ name: `text-${at}`, text }));
  return judgeFaults(faults, givenSnapshot(await caseFileOf(files, new Date(0), faults)));
}

describe('whatever somebody sends', () => {
  test('is taken without a word of complaint, and proves nothing by chance', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), async (texts) => {
        const found = (await judged(...texts)).filter(({ verdict }) => verdict.state === 'found');
        expect(found).toEqual([]);
      }),
    );
  });

  test('and wherever it is cut, two pieces of real texts are judged without an error', async () => {
    const piece = fc
      .tuple(fc.constantFrom(...TEXTS), fc.nat(), fc.nat())
      .map(([text, from, to]) => text.slice(from % (text.length + 1), to % (text.length + 1)));
    await fc.assert(
      fc.asyncProperty(piece, piece, async (left, right) => {
        for (const { verdict } of await judged(left, right)) {
          for (const { proof } of verdict.findings) expect(proof.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  test('its lines keep their numbers, and none is invented', () => {
    const line = fc.oneof(
      fc.constantFrom(...TEXTS.flatMap((text) => text.split('\n'))),
      fc.string({ maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const text = lines.join('\n');
        for (const part of textKinds(text).values()) {
          for (const [at, each] of part.split('\n').entries()) {
            if (each !== '') expect(each).toBe(text.split('\n')[at]);
          }
        }
      }),
    );
  });

  test('a long line of any one character costs no more than its length', () => {
    for (const character of 'a.(/ -=:"[{~_0\\\t,') {
      for (const unit of [character, `a${character}`, `${character} `, `/${character}`]) {
        expect(textKinds(`${unit.repeat(50_000)}\n`).size).toBeLessThan(2);
      }
    }
  });
});
