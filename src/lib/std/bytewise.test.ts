import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytewiseSorted, isBytewiseAfter } from './bytewise.ts';
import { bytesOf, textOf } from './text-codec.ts';

test('sorts file names by their bytes, also names that are not UTF-8', () => {
  const name = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 6 }).map((bytes) => textOf(Buffer.from(bytes))),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((text) => text.isWellFormed()),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), (names) => {
      const wanted = names.map(bytesOf).toSorted((one, other) => Buffer.compare(one, other));
      expect(bytewiseSorted(names).map(bytesOf)).toEqual(wanted);
    }),
  );
});

test('dots, digits and capitals come before the names of a root directory', () => {
  const names = ['boot', 'bin', 'étc', '.autorelabel', 'Library', '0', 'bin.usr-is-merged', 'afs'];
  expect(bytewiseSorted(names)).toEqual([
    ...['.autorelabel', '0', 'Library', 'afs', 'bin', 'bin.usr-is-merged', 'boot', 'étc'],
  ]);
  expect(isBytewiseAfter('boot', 'bin')).toBe(true);
  expect(isBytewiseAfter('afs', 'bin')).toBe(false);
});
