import { expect, test } from 'vitest';
import { parseVersionNumber } from '../../evidence/text/version-number.ts';
import { isRepairedByKubelet } from './kubelet-behaviour.ts';

test.each([
  // Before the bind mounts of subPath volumes.
  ['v1.6.13', 'unknown'],
  ['v1.7.13', 'unknown'],
  ['v1.7.14', false],
  ['v1.8.8', 'unknown'],
  ['v1.8.9', false],
  ['v1.9.3', 'unknown'],
  ['v1.9.4', false],
  ['v1.10.0', false],
  // The fix was taken back.
  ['v1.18.7', false],
  ['v1.18.20', false],
  ['v1.19.0-rc.1', 'unknown'],
  ['v1.19.0', true],
  ['v1.19.1-rc.0', true],
  ['v1.20.0-alpha.1', true],
  ['v1.36.3', true],
  // Nobody has tried it: it is assumed to behave like v1.36.
  ['v1.57.0', true],
])('kubelet %s repairs a stale subPath mount at the next start: %s', (text, wanted) => {
  const version = { ...parseVersionNumber(text, 'test'), origin: { source: 'test' } };
  expect(isRepairedByKubelet(version)).toBe(wanted);
});
