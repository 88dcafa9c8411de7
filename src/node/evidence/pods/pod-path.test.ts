import { expect, test } from 'vitest';
import { podPathOf, resolvedPath } from './pod-path.ts';

const UID = '6f1c2a9e-0b51-4d0c-9a3e-1f2a3b4c5d6e';
const ROOTS = { root: '/data/kubelet', configuredRoot: '/var/lib/kubelet' };
const POD = `/data/kubelet/pods/${UID}`;

test.each([
  [
    `${POD}/volumes/kubernetes.io~csi/pvc-1/mount`,
    { plugin: 'kubernetes.io~csi', volume: 'pvc-1' },
  ],
  [`${POD}/volumes/kubernetes.io~csi`, {}],
  [`${POD}/volume-subpaths/conf/app/0`, { volume: 'conf' }],
  [`${POD}/volume-subpaths`, {}],
  [`${POD}/containers/app/1f`, {}],
  [POD, {}],
])('%s', (path, more) => {
  const rest = path.slice(POD.length + 1);
  expect(podPathOf(path, ROOTS)).toEqual({ podUid: UID, rest, ...more });
});

test('the root may be a link', () => {
  const rest = 'volume-subpaths/conf/app/0';
  const path = `/var/lib/kubelet/pods/${UID}/${rest}`;
  expect(podPathOf(path, ROOTS)).toEqual({ podUid: UID, rest, volume: 'conf' });
  expect(podPathOf(path, { root: '/data/kubelet' })).toBeUndefined();
});

test.each([
  '/data/kubelet/pods',
  '/data/kubelet/pods/',
  '/data/kubelet/pods/../x',
  '/data/kubelet/plugins/a',
  '/',
])('%s is not a path of a pod', (path) => {
  expect(podPathOf(path, ROOTS)).toBeUndefined();
});

test.each([
  ['/var/lib/kubelet/pods/a', '/data/kubelet/pods/a'],
  ['/var/lib/kubelet2/pods/a', '/var/lib/kubelet2/pods/a'],
  ['/data/kubelet/pods/a', '/data/kubelet/pods/a'],
])('%s is %s in the mount table', (path, expected) => {
  expect(resolvedPath(path, ROOTS)).toBe(expected);
});

test('without a link a path is not changed', () => {
  expect(resolvedPath('/var/lib/kubelet/a', { root: '/var/lib/kubelet' })).toBe(
    '/var/lib/kubelet/a',
  );
});
