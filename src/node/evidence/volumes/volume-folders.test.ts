import { expect, test } from 'vitest';
import { parseVersionNumber } from '../text/version-number.ts';
import { leavesVolumeFolders, volumeCleanupBehaviour } from './volume-folders.ts';

test.each([
  ['v1.2.0', 'leaves'],
  ['v1.18.8', 'leaves'],
  ['v1.19.16', 'leaves'],
  ['v1.20.9', 'leaves'],
  ['v1.20.10-rc.0', 'unknown'],
  ['v1.20.10', 'removes'],
  ['v1.20.15-gke.100', 'removes'],
  ['v1.21.3', 'leaves'],
  ['v1.21.4', 'removes'],
  ['v1.22.0-beta.1', 'unknown'],
  ['v1.22.0', 'removes'],
  ['v1.23.0-rc.0', 'removes'],
  ['v1.36.9', 'removes'],
  // These are not verified: they are assumed to behave like v1.36.
  ['v1.37.0-alpha.1', 'removes'],
  ['v1.61.0', 'removes'],
  ['v2.0.0', 'removes'],
  ['v0.9.0', 'unknown'],
])('kubelet %s: %s', (text, care) => {
  const version = parseVersionNumber(text, 'a test');
  expect(volumeCleanupBehaviour(version)).toBe(care);
  expect(leavesVolumeFolders(version)).toBe(care === 'leaves');
});
