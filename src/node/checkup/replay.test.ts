import { expect, test } from 'vitest';
import { settingsIn } from './replay.ts';

test('a bundle has the waits that a watch has seen', () => {
  const settings = { minimumAgeMs: 5, waitedMs: { '812/1532 830 262 /x': 60_000 } };
  expect(settingsIn({ settings })).toMatchObject(settings);
  expect(settingsIn({ settings: {} }).waitedMs).toBeUndefined();
});

test.each([[[1]], ['long'], [{ a: '5' }], [{ a: -1 }], [{ a: null }], [null]])(
  'a bundle with the waits %j is invalid',
  (waitedMs) => {
    expect(() => settingsIn({ settings: { waitedMs } })).toThrow('invalid settings');
  },
);
