import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test('one has the singular, and every other number the plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'pod'))).toEqual(['0 pods', '1 pod', '2 pods']);
  expect(counted(2, 'leftover directory', 'leftover directories')).toBe('2 leftover directories');
});
