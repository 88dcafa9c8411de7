import { expect, test } from 'vitest';
import type { KubeletChoice, LabSettings } from '../settings.ts';
import { HABITS, lacks } from './kubelet-habits.ts';

function habitsOf(kubelet: KubeletChoice): readonly string[] {
  const settings: LabSettings = {
    name: 'practice',
    mountNamespace: 'mnt:[4026532211]',
    runtime: { kind: 'stand-in', why: 'it was asked for' },
    kubelet,
  };
  return Object.entries(HABITS).flatMap(([name, habit]) =>
    lacks(habit)(settings) === undefined ? [name] : [],
  );
}

const real = (version: string) => habitsOf({ kind: 'real', program: '/usr/bin/kubelet', version });

const SUBPATHS = { old: 'leavesStaleMounts', new: 'mountsAnew' };
const LOGS = { old: 'removesTheLogPath', new: 'removesByPattern' };
const SERVERS = { old: 'asksEveryServer', new: 'asksCsiServersAlone' };
const FOLDERS = { old: 'leavesEmptyFolders', new: 'removesEmptyFolders' };

test.each([
  ['v1.16.15', [SUBPATHS.old, LOGS.old, SERVERS.old, FOLDERS.old]],
  ['v1.17.11', [SUBPATHS.old, LOGS.old, SERVERS.old, FOLDERS.old]],
  ['v1.17.12', [SUBPATHS.old, LOGS.new, SERVERS.old, FOLDERS.old]],
  ['v1.18.8', [SUBPATHS.old, LOGS.old, SERVERS.old, FOLDERS.old]],
  ['v1.18.20', [SUBPATHS.old, LOGS.new, SERVERS.old, FOLDERS.old]],
  ['v1.19.0', [SUBPATHS.new, LOGS.new, FOLDERS.old]],
  ['v1.20.9', [SUBPATHS.new, LOGS.new, FOLDERS.old]],
  ['v1.21.4', [SUBPATHS.new, LOGS.new, FOLDERS.new]],
  ['v1.29.0', [SUBPATHS.new, LOGS.new, FOLDERS.new]],
  ['v1.36.3+k3s1', [SUBPATHS.new, LOGS.new, SERVERS.new, FOLDERS.new]],
  ['unknown', []],
])('a real kubelet %s has the habits of its version, and no other', (version, habits) => {
  expect(real(version).toSorted()).toEqual(habits.toSorted());
});

test('the stand-in kubelet can have any behaviour', () => {
  const ours: KubeletChoice = { kind: 'stand-in', version: 'v1.18.8' };
  expect(habitsOf(ours)).toEqual(Object.keys(HABITS));
});

test('the reason for leaving out a break names the behaviour and the version', () => {
  const settings = { kubelet: { kind: 'real', program: '/usr/bin/kubelet', version: 'v1.36.3' } };
  expect(lacks(HABITS.leavesStaleMounts)(settings as LabSettings)).toBe(
    'it needs a kubelet that does not remount a stale subPath (before 1.19), and this one is v1.36.3',
  );
});
