import { afterEach, expect, test } from 'vitest';
import { barred, failed, jsonOf, notRun, shown, tableOf } from './row.ts';

const before = process.env.KUBEDIAG_REQUIRE_ALL;

afterEach(() => {
  if (before === undefined) delete process.env.KUBEDIAG_REQUIRE_ALL;
  else process.env.KUBEDIAG_REQUIRE_ALL = before;
});

test.each([
  [59.9, { under: 60 }, true],
  [60, { under: 60 }, false],
  [8, { atMost: 8 }, true],
  [9, { atMost: 8 }, false],
  [1.5, { atLeast: 1.5 }, true],
  [1.499, { atLeast: 1.5 }, false],
])('%d against %j', (value, bar, ok) => {
  expect(barred('x', value, 'ms', bar).ok).toBe(ok);
});

test('what was not run is no failure, unless all is required', () => {
  delete process.env.KUBEDIAG_REQUIRE_ALL;
  expect(notRun('x', 'it needs root').ok).toBe(true);
  process.env.KUBEDIAG_REQUIRE_ALL = '1';
  expect(notRun('x', 'it needs root').ok).toBe(false);
});

test('what went wrong is always a failure', () => {
  delete process.env.KUBEDIAG_REQUIRE_ALL;
  expect(failed('x', 'no space on the disk').ok).toBe(false);
});

const rows = [
  barred('start', 61.23, 'ms', { under: 60 }),
  shown('node', 27, 'ms'),
  failed('check', 'no space'),
];

test('the table', () => {
  expect(tableOf(rows)).toBe(
    [
      'name   value  unit  bar   ok',
      'start   61.2  ms    < 60  NO',
      'node      27  ms',
      'check      -              NO, not run: no space',
      '',
    ].join('\n'),
  );
});

test('the same as JSON, where every row has every field', () => {
  expect(JSON.parse(jsonOf(rows))).toEqual([
    { name: 'start', value: 61.2, unit: 'ms', bar: '< 60', ok: false },
    { name: 'node', value: 27, unit: 'ms', bar: null, ok: true },
    { name: 'check', value: null, unit: '', bar: null, ok: false, notRun: 'no space' },
  ]);
});
