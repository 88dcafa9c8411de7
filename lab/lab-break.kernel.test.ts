import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { lab } from '../test/rig/lab-traces.ts';
import { oneLine, reportOf } from '../test/rig/run-kubediag.ts';

const NAME = `break${process.pid}`;
const FAULTS = [
  'dead-volume-mount',
  'stale-subpath-mount',
  'container-without-log-path',
  'leftover-volume-directory',
  'orphaned-volume-metadata',
];

beforeAll(async () => {
  await lab('up', NAME, '--runtime', 'stand-in');
});

afterEach(async () => {
  await lab('heal', NAME);
});

afterAll(async () => {
  await lab('down', NAME);
});

async function foundFaults(): Promise<readonly string[]> {
  const report = reportOf(await lab('run', NAME, '--', 'kubediag', 'check', '-o', 'json'));
  const found = report.faults.filter(({ verdict }) => verdict === 'found');
  return found.map(({ name }) => name).toSorted();
}

test('all faults are made at once, found together, and undone by one heal', async () => {
  const fixture = await lab('break', NAME, ...FAULTS);
  expect(fixture).toMatchObject({ code: 0 });
  for (const fault of FAULTS) expect(fixture.stdout).toContain(`${NAME} has ${fault} (`);
  expect(fixture.stderr).toContain('-- kubediag recover\n');
  expect(await foundFaults()).toEqual(FAULTS.toSorted());
  expect(await lab('heal', NAME)).toMatchObject({ code: 0 });
  expect(await foundFaults()).toEqual([]);
});

test('a fault is made beside one that the node has already', async () => {
  expect(await lab('break', NAME, 'stale-subpath-mount')).toMatchObject({ code: 0 });
  expect(await lab('break', NAME, 'container-without-log-path')).toMatchObject({ code: 0 });
  expect(await foundFaults()).toEqual(['container-without-log-path', 'stale-subpath-mount']);
});

test('breaks that exclude each other are refused before the node is changed', async () => {
  const refused = await lab('break', NAME, 'stale-subpath-mount', 'dead-volume-mount/csi-active');
  expect(refused.code).toBe(3);
  expect(oneLine(refused.stderr)).toContain('no kubelet does both');
  expect(await foundFaults()).toEqual([]);
});
