import { expect, test } from 'vitest';
import { parseVersionNumber } from '../../evidence/text/version-number.ts';
import { isSweeping } from './kubelet-behaviour.ts';

test.each([
  ['v1.10.3', false],
  ['v1.16.15', false],
  ['v1.17.11', false],
  ['v1.17.12-rc.0', 'unknown'],
  ['v1.17.12', true],
  ['v1.17.17', true],
  ['v1.18.8', false],
  ['v1.18.9', true],
  ['v1.18.20-tke.3', true],
  ['v1.19.0-rc.1', 'unknown'],
  ['v1.19.0', true],
  ['v1.28.5+k3s1', true],
  ['v1.36.3', true],
  // Nobody has tried these: they are assumed to behave like v1.36.
  ['v1.37.0-alpha.1', true],
  ['v1.40.0', true],
  ['v2.0.0', true],
  ['v1.22.6-kubeedge-v1.10.0', true],
  ['v1.21.4-kubeedge-v1.9.2', false],
])('kubelet %s: %s', (text, wanted) => {
  expect(isSweeping({ ...parseVersionNumber(text, 'test'), origin: { source: 'test' } })).toBe(
    wanted,
  );
});

test('edgecore of KubeEdge 1.9 has the kubelet of 1.21 inside, but not this part of it', () => {
  const inside = { ...parseVersionNumber('v1.21.4', 'test'), origin: { source: 'test' } };
  expect(isSweeping({ ...inside, via: 'KubeEdge v1.9.4' })).toBe(false);
  expect(isSweeping({ ...inside, via: 'KubeEdge v1.13.0' })).toBe(true);
});
