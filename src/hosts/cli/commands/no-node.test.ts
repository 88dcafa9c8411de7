import { expect, test } from 'vitest';
import { fixtureAt } from '../../../../test/fault-fixtures.ts';
import { replayCheck } from '../../../node/checkup/replay.ts';
import { kubeletNotRunning } from '../../../node/faults/kubelet-not-running/fault.ts';
import { hasNothingToCheck } from './no-node.ts';

test.each([
  ['not-a-node-without-root', true],
  ['unclear-root-elsewhere-in-a-container', true],
  ['active-root-elsewhere', false],
  ['active-crashed', false],
])('on %s there is nothing to check: %s', async (name, isNothing) => {
  const bundle = await fixtureAt(`kubelet-not-running/${name}`);
  const report = await replayCheck(bundle, [kubeletNotRunning], undefined);
  expect(hasNothingToCheck(report)).toBe(isNothing);
});
