import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { EXECUTABLE } from '../../../../test/rig/run-kubediag.ts';

function reported(...args: readonly string[]): string {
  const { status, stdout } = spawnSync(EXECUTABLE, ['operations', ...args], { encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout;
}

test('the catalogue names paths, inputs and outputs, and what repairs', { timeout: 20_000 }, () => {
  const list = JSON.parse(reported('-o', 'json')) as { operation: string; repairs: boolean }[];
  expect(list.find(({ operation }) => operation === 'pod-detail-collector')).toMatchObject({
    operation: 'pod-detail-collector',
    path: '/processor/podDetailCollector',
    does: 'collects the pod of the Diagnosis, with the current states of its containers',
    repairs: false,
    reads: ['pod.namespace', 'pod.name'],
    mayRead: [],
    writes: ['collector.kubernetes.pod.detail'],
  });
  const repairing = list.filter(({ repairs }) => repairs).map(({ operation }) => operation);
  expect(repairing).toEqual(expect.arrayContaining(['subpath-remount-recover', 'node-cordon']));
  expect(reported()).toContain(
    'subpath-remount-recover\n  does     unmounts what that step found, and other such mounts of the container, if a new check confirms it; asks before\n',
  );
  expect(reported()).toMatch(/reads {4}param[.].*address.*\n(.*\n)*? {2}may read param.*index/);
  expect(reported()).toContain('Built-in OperationSets');
});
