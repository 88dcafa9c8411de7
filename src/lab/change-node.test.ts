import { expect, test } from 'vitest';
import type { Break } from './break.ts';
import { chooseBreak } from './change-node.ts';

function made(kind: Break['kind'], fault: string, variant: string): Break {
  const expected = { verdict: 'clear', repair: 'none' } as const;
  return { kind, fault, variant, about: '', expected, make: async () => {} };
}

const first = made('fault', 'dead-volume-mount', 'in-tree');
const second = made('fault', 'dead-volume-mount', 'csi');
const alike = made('look-alike', 'dead-volume-mount', 'slow-server');
const all = [first, second, alike];

test('a fault is made in its first form, or in the one that is named', () => {
  expect(chooseBreak(all, 'dead-volume-mount', {})).toBe(first);
  expect(chooseBreak(all, 'dead-volume-mount', { variant: 'csi' })).toBe(second);
  expect(chooseBreak(all, undefined, { lookAlike: 'slow-server' })).toBe(alike);
  expect(chooseBreak(all, undefined, {})).toBeUndefined();
});

test.each([
  ['dead-volume', {}, 'no fault is called "dead-volume"'],
  ['dead-volume-mount', { variant: 'x' }, 'has no variant "x", but in-tree, csi'],
  ['dead-volume-mount', { variant: 'slow-server' }, 'has no variant "slow-server"'],
  [undefined, { variant: 'csi' }, '--variant is of a fault, and none is named'],
  [undefined, { lookAlike: 'csi' }, 'no look-alike is called "csi"'],
])('%s %o is not known', (fault, options, words) => {
  expect(() => chooseBreak(all, fault, options)).toThrow(words);
});
