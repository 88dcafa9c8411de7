import { expect, test } from 'vitest';
import { teardownFailures } from './teardown-failures.ts';

const UID = '49e7a02c-0f1f-11e7-888f-42010a8a0004';
const VOLUMES = `/var/lib/kubelet/pods/${UID}/volumes`;

const output = (message: string, seconds = 0) => ({
  message,
  text: message,
  origin: { file: 'kubelet.log', line: 1 },
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)),
});

const failing = (words: string) =>
  `Operation for "x" failed. Error: UnmountVolume.TearDown failed for volume "a" with: ${words}`;

test.each([
  [`rename ${VOLUMES}/p/a ${VOLUMES}/p/a.deleting~1: file exists`, 'rename', 'exists'],
  [
    `rename ${VOLUMES}/p/a ${VOLUMES}/p/wrapped_a.deleting~1: device or resource busy`,
    'rename',
    'busy',
  ],
  [`rename ${VOLUMES}/p/a ${VOLUMES}/p/a.deleting~1: input/output error`, 'rename', 'other'],
  [`rename ${VOLUMES}/p/a.deleting~1.deleting~2`, 'rename', 'cut'],
  [`rename ${VOLUMES}/p/a ${VOLUMES}/p/a.deleting~1`, 'rename', 'cut'],
  [`remove ${VOLUMES}/p/a.deleting~1: device or resource busy`, 'remove', 'busy'],
  [`unlinkat ${VOLUMES}/p/a.deleting~1: directory not empty`, 'remove', 'not-empty'],
])('%s', (words, operation, error) => {
  const { failures } = teardownFailures([output(failing(words))]);
  expect(failures).toMatchObject([
    { podUid: UID, plugin: 'p', path: `${VOLUMES}/p/a`, operation, error, count: 1 },
  ]);
  expect(failures[0]?.leftovers.size).toBeGreaterThan(0);
});

test('recognises a busy volume without a leftover, even if a space is missing', () => {
  const line = output(
    failing(`remove ${VOLUMES}/kubernetes.io~secret/token: deviceor resource busy"`),
  );
  const { failures } = teardownFailures([line]);
  expect(failures).toMatchObject([{ error: 'busy', operation: 'remove', leftovers: new Set() }]);
});

test('reports what a newer kubelet cannot remove of an orphaned pod', () => {
  const line = `orphaned pod "${UID}" found, but failed to rmdir() volume at path ${VOLUMES}/p/a.deleting~1: directory not empty`;
  const { failures, orphans } = teardownFailures([output(line)]);
  expect(failures).toMatchObject([
    { operation: 'remove', error: 'not-empty', path: `${VOLUMES}/p/a` },
  ]);
  expect(orphans.has(UID)).toBe(true);
});

test('merges repeated failures, with the latest line', () => {
  const words = (digits: number) =>
    failing(`rename ${VOLUMES}/p/a ${VOLUMES}/p/a.deleting~${digits}: file exists`);
  const { failures } = teardownFailures([
    output(words(1), 1),
    output(words(2), 9),
    output(words(3), 5),
  ]);
  expect(failures).toMatchObject([
    { count: 3, leftovers: new Set(['a.deleting~1', 'a.deleting~2', 'a.deleting~3']) },
  ]);
  expect(failures[0]?.last.time?.getUTCSeconds()).toBe(9);
});

test('counts a line with two matches once', () => {
  const line = output(`orphaned pod "${UID}" found, but volume paths are still present on disk.`);
  expect(teardownFailures([line, line]).orphans.get(UID)?.count).toBe(1);
});

test.each([
  `Could not construct volume information, cleanup the mounts. (pod.UID ${UID}, volume.SpecName pvc-x.deleting~123456789): no volume plugin matched`,
  `Orphaned volume "${UID}/wrapped_token.deleting~765506473" found, tearing down volume`,
  `"Could not construct volume information" podName="${UID}" volumeSpecName="pvc-x.deleting~1" err="no volume plugin matched"`,
])('a leftover that was taken for a volume: %s', (line) => {
  expect([...teardownFailures([output(line)]).unreadable.keys()]).toEqual([UID]);
});

test('ignores other messages', () => {
  const { failures, orphans, unreadable } = teardownFailures([
    output(failing('unmount failed: exit status 32')),
    output(`rename ${VOLUMES}/p/a ${VOLUMES}/p/a.deleting~1: file exists`),
    output(`Could not construct volume information (pod.UID ${UID}, volume.SpecName pvc-x): none`),
    output('Cleaned up orphaned pod volumes dir'),
  ]);
  expect([failures.length, orphans.size, unreadable.size]).toEqual([0, 0, 0]);
});
