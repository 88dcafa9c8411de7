import { expect, test } from 'vitest';
import { caseName } from '../break.ts';
import type { LabSettings } from '../settings.ts';
import { chooseTogether, type RequestedBreak } from './choose-together.ts';
import { breaks } from './index.ts';

const SETTINGS: LabSettings = {
  name: 'practice',
  mountNamespace: 'mnt:[4026532211]',
  runtime: { kind: 'stand-in', why: 'it was asked for' },
  kubelet: { kind: 'stand-in', version: 'v1.18.8' },
};

function asked(name: string): RequestedBreak {
  const [group = '', variant] = name.split('/');
  const form = variant === undefined ? {} : { variant };
  if (group !== 'look-alike') return { kind: 'fault', fault: group, ...form };
  const { fault = '' } = breaks.find((each) => caseName(each) === name) ?? {};
  return { kind: 'look-alike', fault, ...form };
}

function choose(names: readonly string[], made: readonly string[] = []) {
  const had = { made: breaks.filter((each) => made.includes(caseName(each))), settings: SETTINGS };
  return chooseTogether(breaks, names.map(asked), had).map(caseName);
}

test('faults that the same kubelet can have are made in their first variants', () => {
  expect(choose(['orphaned-volume-metadata'])).toEqual(['orphaned-volume-metadata/active']);
  expect(choose(['stale-subpath-mount', 'leftover-volume-directory'])).toEqual([
    'stale-subpath-mount/configmap-active',
    'leftover-volume-directory/nested-active',
  ]);
});

test('all faults together get variants of one kubelet, and the break that stops it is last', () => {
  const all = [...new Set(breaks.map(({ fault }) => fault))];
  expect(choose(['dead-volume-mount', ...all.filter((id) => id !== 'dead-volume-mount')])).toEqual([
    'stale-subpath-mount/configmap-active',
    'container-without-log-path/broker-damaged',
    'leftover-volume-directory/nested-active',
    'orphaned-volume-metadata/old-kubelet-active',
    'dead-volume-mount/nfs-active',
    'kubelet-not-running/stopped',
    'runtime-not-responding/paused',
  ]);
});

test('the earlier breaks of a node decide which variants fit', () => {
  expect(choose(['orphaned-volume-metadata'], ['stale-subpath-mount/secret-active'])).toEqual([
    'orphaned-volume-metadata/old-kubelet-active',
  ]);
});

test.each([
  [
    ['stale-subpath-mount/secret-active', 'dead-volume-mount/csi-active'],
    [],
    'stale-subpath-mount (secret-active) needs a kubelet that does not remount a stale subPath ' +
      '(before 1.19), and dead-volume-mount (csi-active) one that asks only the servers ' +
      "of a deleted pod's CSI volumes (1.30 and newer): no kubelet does both",
  ],
  [
    ['stale-subpath-mount/secret-active'],
    ['stale-subpath-mount/configmap-latent'],
    'it has stale-subpath-mount (configmap-latent) already, and all variants use the same pods',
  ],
  [
    ['stale-subpath-mount', 'stale-subpath-mount/secret-active'],
    [],
    'stale-subpath-mount is named twice, and all its variants use the same pods',
  ],
  [
    ['stale-subpath-mount'],
    ['dead-volume-mount/nfs-active'],
    'its kubelet starts no pod because of dead-volume-mount (nfs-active); after a heal all ' +
      'of them can be made at once: kubediag lab break stale-subpath-mount dead-volume-mount',
  ],
  [
    ['look-alike/slow-volume'],
    ['stale-subpath-mount/secret-active'],
    'it has stale-subpath-mount (secret-active); a look-alike is made alone',
  ],
  [
    ['stale-subpath-mount'],
    ['look-alike/slow-volume'],
    'it has a look-alike of dead-volume-mount (slow-volume); a look-alike is made alone',
  ],
])('%j beside %j: %s', (names, made, why) => {
  expect(() => choose(names, made)).toThrow(new Error(why));
});

test('a real kubelet gets the variants of its version', () => {
  const kubelet = { kind: 'real', program: '/kubelet', version: 'v1.36.3' } as const;
  const had = { made: [], settings: { ...SETTINGS, kubelet } };
  expect(chooseTogether(breaks, [asked('dead-volume-mount')], had)).toMatchObject([
    { variant: 'csi-active' },
  ]);
  const old = [asked('dead-volume-mount/nfs-active')];
  expect(() => chooseTogether(breaks, old, had)).toThrow('this one is v1.36.3');
});
