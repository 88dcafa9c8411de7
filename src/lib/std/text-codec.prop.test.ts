import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOf, textOf } from './text-codec.ts';

/** Bytes that are often almost UTF-8: beginnings, continuations, characters, cut anywhere. */
const bytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 3 }).map((text) => Buffer.from(text, 'utf8')),
      fc
        .constantFrom(
          [0xc0, 0x80], // An overlong zero.
          [0xed, 0xa0, 0x80], // A lone surrogate.
          [0xed, 0xb3, 0xbf], // The very surrogate that stands for 0xff.
          [0xf4, 0x90, 0x80, 0x80], // Beyond U+10FFFF.
          [0xe2, 0x82], // Truncated.
          [0xf0, 0x9f, 0x98],
          [0xef, 0xbf, 0xbd], // What a careless reader makes of all of them.
          [0xef, 0xbb, 0xbf],
          [0xff],
          [0],
        )
        .map((list) => Uint8Array.from(list)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

describe('text of bytes', () => {
  test('turns back into the same bytes', () => {
    fc.assert(
      fc.property(bytes, (before) => {
        expect(before.equals(bytesOf(textOf(before)))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test('differs when the bytes differ', () => {
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        expect(textOf(left) === textOf(right)).toBe(left.equals(right));
      }),
    );
  });

  test('is plain UTF-8 wherever it can be, and has an escape for each other byte', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        const text = textOf(some);
        expect(text.isWellFormed()).toBe(isUtf8(some));
        if (isUtf8(some)) expect(text).toBe(some.toString('utf8'));
      }),
    );
  });

  test('survives JSON, in which answers travel and are stored', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        const text = textOf(some);
        expect(JSON.parse(JSON.stringify(text))).toBe(text);
      }),
    );
  });
});

test.each([
  ['a byte that begins nothing', [0x61, 0xff, 0x62], 'a\udcffb'],
  ['a character that is cut off', [0xe2, 0x82], '\udce2\udc82'],
  ['a character after one that is cut off', [0xe2, 0x82, 0xe2, 0x82, 0xac], '\udce2\udc82€'],
  ['a pair of halves as some programs write it', [0xed, 0xa0, 0x80], '\udced\udca0\udc80'],
  ['a zero written too long', [0xc0, 0x80], '\udcc0\udc80'],
  ['a character beyond the last', [0xf4, 0x90, 0x80, 0x80], '\udcf4\udc90\udc80\udc80'],
  ['a picture beside it', [0xf0, 0x9f, 0x98, 0x80, 0x80], '😀\udc80'],
  ['nothing', [], ''],
])('%s', (_, list, text) => {
  expect(textOf(Buffer.from(list))).toBe(text);
  expect([...bytesOf(text)]).toEqual(list);
});

test('a lone surrogate that represents no byte is not decoded as a byte', () => {
  expect(Buffer.from(bytesOf('a\ud800b\udc41'))).toEqual(Buffer.from('a\ufffdb\ufffd'));
});

test('a binary file is read without a crash', () => {
  const size = 8 * 1024 * 1024;
  const text = textOf(Buffer.alloc(size, 0xfe));
  expect(text).toHaveLength(size);
  expect(Buffer.alloc(size, 0xfe).equals(bytesOf(text))).toBe(true);
});
