import { expect, test } from 'vitest';
import { DEAD_TARGET, FORCE } from '../../../test/synthetic-dead-volume.ts';
import { parseMountTable } from '../evidence/mounts/mount-table.ts';
import { objectionTo } from './pinned-mount.ts';

const ROOT = '27 1 254:1 / / rw - ext4 /dev/vda1 rw';
const DEAD = `210 27 0:57 / ${DEAD_TARGET} rw - ceph 10.0.0.7:/data rw`;

const objection = (...lines: readonly string[]) =>
  objectionTo(FORCE, parseMountTable(`${lines.join('\n')}\n`, '/proc/812/mountinfo'));

test('nothing stands against the pinned mount, and one that is gone needs nothing', () => {
  expect(objection(ROOT, DEAD)).toBeUndefined();
  expect(objection(ROOT)).toMatchObject({ state: 'done' });
});

test.each([
  ['changed', DEAD.replace('0:57', '0:58')],
  ['changed', DEAD.replace('- ceph', '- nfs4')],
])('a mount that was recreated at this path has %s', (word, line) => {
  const what = expect.stringContaining(word);
  const why = `/proc/812/mountinfo now shows ${line}`;
  expect(objection(ROOT, line)).toMatchObject({ state: 'refused', what, why });
});

test.each([
  ['over a directory above it', '300 27 0:60 / /var/lib/kubelet rw - tmpfs tmpfs rw'],
  ['over the root', '300 27 0:60 / / rw - tmpfs tmpfs rw'],
  ['on it', `300 210 0:60 / ${DEAD_TARGET} rw - tmpfs tmpfs rw`],
  ['in it', `300 210 0:60 / ${DEAD_TARGET}/inner rw - tmpfs tmpfs rw`],
  ['beside it, on the same directory', `300 27 0:60 / ${DEAD_TARGET} rw - tmpfs tmpfs rw`],
])('a mount that came %s stands against it', (_, line) => {
  expect(objection(ROOT, DEAD, line)).toMatchObject({
    state: 'refused',
    what: 'another mount lies over this one',
    why: `/proc/812/mountinfo now shows ${line}`,
  });
});

test('a mount that was there before the one it stands on, and is hidden by it, does not', () => {
  const hidden = '28 27 254:2 / /var/lib rw - ext4 /dev/vdb rw';
  const over = '29 27 254:3 / /var rw - ext4 /dev/vdc rw';
  expect(objection(ROOT, hidden, over, DEAD.replace('210 27', '210 29'))).toMatchObject({
    what: 'the mount changed since it was diagnosed',
  });
  const pins = { ...FORCE, parent: 29 };
  const lines = [ROOT, hidden, over, DEAD.replace('210 27', '210 29')];
  const table = parseMountTable(`${lines.join('\n')}\n`, '/proc/812/mountinfo');
  expect(objectionTo(pins, table)).toBeUndefined();
});
