import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LiteralSearch } from './literal-search.ts';
import { MatchingLines } from './matching-lines.ts';

/** Few letters, so that literals overlap and hide in one another. */
const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', 'é', '\udcff'), minLength, maxLength });

const literals = fc.uniqueArray(letters(3, 9), { minLength: 1, maxLength: 12 });

test('finds every occurrence that a search for each literal finds', () => {
  fc.assert(
    fc.property(literals, letters(0, 200), (list, text) => {
      const found: string[] = [];
      new LiteralSearch(list).find(text, (literal, at) => found.push(`${list[literal]}@${at}`));
      const expected = list.flatMap((literal) => {
        const places: string[] = [];
        for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
          places.push(`${literal}@${at}`);
        }
        return places;
      });
      expect(found.toSorted()).toEqual(expected.toSorted());
    }),
  );
});

const LIMITS = { firstMax: 2, lastMax: 3, characterMax: 1000 };

function matchesIn(list: readonly string[], pieces: readonly string[]) {
  const matching = new MatchingLines(list, LIMITS);
  for (const piece of pieces) matching.push(piece);
  return matching.end();
}

test('picks the lines that hold a literal, however the text is cut into pieces', () => {
  const lines = fc.array(letters(0, 40), { maxLength: 60 });
  const cuts = fc.array(fc.nat(2000), { maxLength: 8 });
  fc.assert(
    fc.property(literals, lines, fc.boolean(), cuts, (list, given, isEnded, places) => {
      const text = given.join('\n') + (isEnded && given.length > 0 ? '\n' : '');
      const ends = [...places.toSorted((left, right) => left - right), text.length];
      const pieces = ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
      const { lines: picked, counts, scanned } = matchesIn(list, pieces);

      // The last line is none when the text ends with the line before it.
      const all =
        text === '' ? [] : text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n');
      expect(scanned).toBe(all.length);
      const holding = list.map((literal) =>
        all.flatMap((line, index) => (line.includes(literal) ? [index + 1] : [])),
      );
      expect(counts).toEqual(holding.map(({ length }) => length));
      const stored = new Set(
        holding.flatMap((at) => [...at.slice(0, 2), ...at.slice(2).slice(-3)]),
      );
      expect(picked.map(({ at }) => at)).toEqual(
        [...stored].toSorted((left, right) => left - right),
      );
      for (const { at, text: line } of picked) expect(line).toBe(all[at - 1]);
    }),
  );
});

test('cuts a long line, and takes one without end in pieces', () => {
  const { lines, scanned, first } = matchesIn(['needle'], [`needle${'x'.repeat(5000)}\nlast`]);
  expect(lines[0]?.text).toHaveLength(1000);
  expect([scanned, first?.length]).toEqual([2, 1000]);
  const endless = matchesIn(
    ['needle'],
    Array.from({ length: 40 }, () => 'y'.repeat(100_000)),
  );
  expect(endless.scanned).toBeGreaterThan(1);
});

test('a literal needs three characters', () => {
  expect(() => new LiteralSearch(['ab'])).toThrow('three characters');
});
