import { describe, expect, test } from 'vitest';
import { flameOf, functionsOf, type Profile, ProfileError, parseProfile } from './profile.ts';

/** The parts of the protobuf wire format that a profile needs. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
const number = (field: number, value: number) => [...varint(field * 8), ...varint(value)];
const bytes = (field: number, content: readonly number[]) => [
  ...varint(field * 8 + 2),
  ...varint(content.length),
  ...content,
];
const text = (field: number, words: string) => bytes(field, [...Buffer.from(words)]);

const STRINGS = [
  '',
  'samples',
  'count',
  'cpu',
  'nanoseconds',
  'main.main',
  'main.work.func1',
  'é.f',
];

/** Two samples: main > work > f for 30 ms, with work and f in one location, and main for 10 ms. */
function fixture(): number[] {
  const location = (id: number, ...functions: readonly number[]) =>
    bytes(4, [
      ...number(1, id),
      ...number(3, 0x400000 + id),
      ...functions.flatMap((each) => bytes(4, [...number(1, each), ...number(2, 12)])),
    ]);
  return [
    ...bytes(1, [...number(1, 1), ...number(2, 2)]),
    ...bytes(1, [...number(1, 3), ...number(2, 4)]),
    ...bytes(2, [...bytes(1, [2, 1]), ...bytes(2, [3, ...varint(30_000_000)])]),
    // An unpacked list: one field for each number.
    ...bytes(2, [...number(1, 1), ...number(2, 1), ...number(2, 10_000_000)]),
    ...bytes(2, [...bytes(1, [9, 3]), ...bytes(2, [0, 0])]),
    ...location(1, 1),
    ...location(2, 3, 2),
    ...location(3),
    ...bytes(5, [...number(1, 1), ...number(2, 5)]),
    ...bytes(5, [...number(1, 2), ...number(2, 6)]),
    ...bytes(5, [...number(1, 3), ...number(2, 7)]),
    ...STRINGS.flatMap((each) => text(6, each)),
    ...number(9, 1_763_215_920_000_000_000),
    ...number(10, 2_000_000_000),
    // Unknown fields: a fixed64 and a fixed32.
    ...varint(20 * 8 + 1),
    ...[1, 2, 3, 4, 5, 6, 7, 8],
    ...varint(21 * 8 + 5),
    ...[1, 2, 3, 4],
  ];
}

const parse = (content: readonly number[]): Profile => parseProfile(Uint8Array.from(content));

describe('a CPU profile', () => {
  test('is read with its CPU time and with inlined functions', () => {
    const profile = parse(fixture());
    expect(profile).toMatchObject({
      measure: 'cpu',
      unit: 'nanoseconds',
      durationMs: 2_000,
      total: 40_000_000,
    });
    expect(profile.time?.getUTCFullYear()).toBe(2025);
    expect(profile.samples).toEqual([
      { value: 30_000_000, stack: ['é.f', 'main.work', 'main.main'] },
      { value: 10_000_000, stack: ['main.main'] },
      { value: 0, stack: ['unknown', '0x400003'] },
    ]);
  });

  test('a function has its flat and its cumulative value', () => {
    expect(functionsOf(parse(fixture())).slice(0, 3)).toEqual([
      { function: 'é.f', flat: 30_000_000, cumulative: 30_000_000 },
      { function: 'main.main', flat: 10_000_000, cumulative: 40_000_000 },
      { function: 'main.work', flat: 0, cumulative: 30_000_000 },
    ]);
  });

  test('a recursive function counts once', () => {
    const recursive = { ...parse(fixture()), samples: [{ value: 5, stack: ['a', 'b', 'a'] }] };
    expect(functionsOf(recursive)[0]).toEqual({ function: 'a', flat: 5, cumulative: 5 });
  });

  test('a flame is as wide as its value, and no wider than its parent', () => {
    expect(flameOf(parse(fixture()), 'all')).toEqual({
      name: 'all',
      value: 40_000_000,
      children: [
        {
          name: 'main.main',
          value: 40_000_000,
          children: [
            {
              name: 'main.work',
              value: 30_000_000,
              children: [{ name: 'é.f', value: 30_000_000, children: [] }],
            },
          ],
        },
      ],
    });
  });

  test('a truncated or changed profile is parsed or rejected with a ProfileError', () => {
    const whole = fixture();
    const tries = whole.flatMap((_, at) => [
      whole.slice(0, at),
      whole.with(at, (whole[at] ?? 0) ^ 0xff),
    ]);
    let refused = 0;
    for (const content of tries) {
      try {
        parse(content);
      } catch (error) {
        expect(error).toBeInstanceOf(ProfileError);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(whole.length / 4);
  });

  test.each([
    ['nothing', []],
    ['text', [...Buffer.from('<html>not found</html>')]],
  ])('%s is none', (_, content) => {
    expect(() => parse(content)).toThrow(ProfileError);
  });
});
