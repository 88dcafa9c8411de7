import { expect, test } from 'vitest';
import { defined } from './defined.ts';

test('leaves out undefined fields, but no other empty values', () => {
  const fields = { none: undefined, zero: 0, no: false, text: '', nothing: null, list: [] };
  expect(Object.entries(defined(fields))).toEqual([
    ['zero', 0],
    ['no', false],
    ['text', ''],
    ['nothing', null],
    ['list', []],
  ]);
});
