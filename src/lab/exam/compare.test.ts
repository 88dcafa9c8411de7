import { expect, test } from 'vitest';
import { changesBetween, unannounced } from './compare.ts';

test('what went and what came is told, also of lines that stand there twice', () => {
  expect(changesBetween(['a', 'b', 'b'], ['b', 'c'])).toEqual(['- a', '- b', '+ c']);
  expect(changesBetween(['a', 'b'], ['b', 'a'])).toEqual([]);
  expect(changesBetween(['a'], ['a', 'a'])).toEqual(['+ a']);
});

test('an announcement covers the lines that begin with it, and no others', () => {
  const changes = ['- mount /pods/u1/volume-subpaths/0 ext4', '+ mount /mnt ext4'];
  expect(unannounced(changes, ['- mount /pods/u1'])).toEqual(['+ mount /mnt ext4']);
  expect(unannounced(changes, ['+ mount /pods/u1'])).toEqual(changes);
});
