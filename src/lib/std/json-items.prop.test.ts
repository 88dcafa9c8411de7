import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mapJsonItems } from './parse-json.ts';

const itemsIn = (text: string) => mapJsonItems(text, 'items', (item) => item);

describe('the items of a list in an object', () => {
  test('are those of JSON.parse, in any formatting', () => {
    const list = fc.record({
      before: fc.jsonValue(),
      items: fc.array(fc.jsonValue()),
      after: fc.jsonValue(),
    });
    fc.assert(
      fc.property(list, fc.constantFrom(0, 1, 3), (fixture, indent) => {
        const text = JSON.stringify(fixture, null, indent);
        const parsed = JSON.parse(text) as { readonly items: readonly unknown[] };
        expect(itemsIn(text)).toEqual(parsed.items);
      }),
    );
  });

  test('are not those of a nested list, or of a string', () => {
    expect(itemsIn('{"a":{"items":[1]},"b":"\\"items\\":[2]","items":[3,{"items":[4]}]}')).toEqual([
      3,
      { items: [4] },
    ]);
  });

  test.each([
    ['no list', '{"items":null}'],
    ['no such field', '{"things":[1]}'],
    ['no object', '[{"items":[1]}]'],
    ['two such fields', '{"items":[1],"items":[2]}'],
    ['a text without its end', '{"items":["a]}'],
    ['a list without its end', '{"items":[1'],
    ['nothing', ''],
  ])('%s is not decided', (_, text) => {
    expect(itemsIn(text)).toBeUndefined();
  });

  test('a text that JSON.parse rejects is always rejected', () => {
    const sound = JSON.stringify({ kind: 'List', items: [{ a: [1, 'x"]'] }, 'b', null], z: 1 });
    const change = fc.tuple(
      fc.nat(sound.length - 1),
      fc.constantFrom('', '"', ',', ']', '}', '\\'),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        let text = sound;
        for (const [at, by] of changes) text = text.slice(0, at) + by + text.slice(at + 1);
        const [ours, theirs] = [outcome(() => itemsIn(text)), outcome(() => JSON.parse(text))];
        if (ours === 'refused') expect(theirs).toBe('refused');
        else if (ours !== undefined) expect(theirs).toMatchObject({ items: ours });
      }),
      { numRuns: 2_000 },
    );
  });
});

function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return 'refused';
  }
}
