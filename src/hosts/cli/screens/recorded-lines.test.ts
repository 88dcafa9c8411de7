import { expect, test } from 'vitest';
import { actionLines, findingLines, plannedLines } from './recorded-lines.ts';

const MOUNT = '/var/lib/kubelet/pods/6f1c2a9e/volume-subpaths/settings/web/1';
const action = {
  kind: 'unmount',
  fault: 'stale-subpath-mount',
  finding: '3f9a1c',
  description: `unmount ${MOUNT}`,
  details: ['mount 216 of the kubelet, on device 254:1, whose source is gone'],
};

test('a planned action says what would be done, to what, and what for', () => {
  expect(plannedLines({ ...action, summary: 'It cannot start.', plan: 'abc' }, 90)).toEqual([
    `unmount ${MOUNT}`,
    '  mount 216 of the kubelet, on device 254:1, whose source is gone',
    '  for finding stale-subpath-mount/3f9a1c: It cannot start.',
  ]);
});

test('an action says what became of it, when, and where the journal has it', () => {
  const done = { ...action, state: 'done', endTime: '2026-01-02T03:04:05Z', journalEntry: 7 };
  expect(actionLines(done, 90)).toEqual([
    `done: unmount ${MOUNT}`,
    '  mount 216 of the kubelet, on device 254:1, whose source is gone',
    '  for finding stale-subpath-mount/3f9a1c, at 2026-01-02T03:04:05Z, entry 7 of the journal',
  ]);
  const refused = { ...action, state: 'refused', message: 'refused: it is another mount' };
  expect(actionLines(refused, 90)).toContain('  refused: it is another mount');
  // As a version wrote it that knew no more.
  expect(actionLines({ kind: 'unmount', state: 'done' }, 90)).toEqual(['done: unmount']);
});

test('a finding is shown with its proof, and lines of a node are not rewritten', () => {
  const finding = {
    fault: 'stale-subpath-mount',
    id: '3f9a1c',
    state: 'active',
    summary: 'It cannot start.',
    proof: [
      { claim: 'mount 216 is deleted', text: `216  27 /x//deleted ${MOUNT}`, origin: '/proc/8:4' },
      { claim: 'the container waits', origin: 'CRI ListContainers' },
    ],
  };
  expect(findingLines(finding, 100)).toEqual([
    'stale-subpath-mount 3f9a1c (active): It cannot start.',
    '  mount 216 is deleted (/proc/8:4)',
    `    216  27 /x//deleted ${MOUNT}`,
    '  the container waits (CRI ListContainers)',
  ]);
  const { proof, ...bare } = finding;
  expect(findingLines({ ...bare, proofNotListed: proof.length }, 100)).toContain(
    '  2 more lines of proof: kubediag check stale-subpath-mount',
  );
});
