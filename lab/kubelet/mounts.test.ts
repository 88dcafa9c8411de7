import { expect, test } from 'vitest';
import { hasLostSubpath } from './mounts.ts';

test('only a subPath that is no longer mounted is lost', () => {
  const prepared = { hostPath: '/nowhere/pods/a/volume-subpaths/settings/app/0' };
  expect(hasLostSubpath([{ hostPath: '/proc' }, prepared])).toBe(true);
  expect(hasLostSubpath([{ hostPath: '/proc' }, { hostPath: '/nowhere/pods/a/etc-hosts' }])).toBe(
    false,
  );
  expect(hasLostSubpath([])).toBe(false);
});
