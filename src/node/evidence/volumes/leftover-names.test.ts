import { expect, test } from 'vitest';
import { leftoverName, pluginName, volumeFolderNames } from './leftover-names.ts';

test.each([
  ['pvc-f39e86b9.deleting~859156558', 'pvc-f39e86b9', 1],
  ['pvc-1.deleting~096627888', 'pvc-1', 1],
  ['a.deleting~1', 'a', 1],
  ['a.deleting~1234567890', 'a', 1],
  ['wrapped_default-token-7vgrg.deleting~765506473', 'default-token-7vgrg', 1],
  ['test-volume.deleting~355603580.deleting~682169602.deleting~871638708', 'test-volume', 3],
  ['a.deleting.deleting~1', 'a.deleting', 1],
])('%s is left over from %s', (name, volume, suffixes) => {
  expect(leftoverName(name)).toEqual({ name, volume, suffixes });
});

test.each([
  'pvc-1',
  'a.deleting~',
  'a.deleting~12345678901',
  'a.deleting~1x',
  'a.deleting~1.bak',
  'a-deleting~1',
  '.deleting~1',
  '..data_tmp',
  'kubernetes.io~csi',
])('%s is not a leftover', (name) => {
  expect(leftoverName(name)).toBeUndefined();
});

test('unescapes the name of a plugin', () => {
  expect(pluginName('transwarp.io~tosdisk')).toBe('transwarp.io/tosdisk');
});

test('the directory of a volume has the name of the volume, also with the prefix wrapped_', () => {
  const names = ['a.deleting~1', 'a.deleting~2', 'wrapped_token.deleting~3', 'pvc-1'];
  const found = names.flatMap((name) => leftoverName(name) ?? []);
  expect([...volumeFolderNames(found)]).toEqual(['a', 'wrapped_a', 'token', 'wrapped_token']);
});
