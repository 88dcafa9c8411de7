import { expect, test } from 'vitest';
import { mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { pods } from '../evidence/pods/pods.ts';
import { notedIn } from './noted.ts';

test.each([
  ['pods.txt: no answer in time, left behind: process 4138', pods],
  ['mountinfo-4138.txt: no answer in time', mountNamespaces],
  ['mount namespaces: more than 100, the rest was left out', mountNamespaces],
])('%s is about one evidence', (note, evidence) => {
  expect(notedIn([note])).toEqual({ of: new Map([[evidence, note]]), general: [] });
});

test.each([
  'pods: no answer in time',
  'metrics: not asked',
  'pods.txt.txt: no answer in time',
  'mount namespaces.txt: no answer in time',
  'pods.txt',
])('%s is about no file of ours, and so perhaps about everything', (note) => {
  expect(notedIn([note])).toEqual({ of: new Map(), general: [note] });
});
