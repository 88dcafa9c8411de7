import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn } from '../../../../test/fault-fixtures.ts';
import { nodes, optionalReads } from '../../../../test/faults/dead-volume-mount.ts';
import { deadVolumeMount } from './fault.ts';

describeFault(deadVolumeMount, { nodes: nodes(), optionalReads });

test.each([
  ['volume-of-a-live-pod-hangs', 'the running pod'],
  ['volume-of-a-terminating-pod-hangs', 'the terminating pod default/reader'],
])('on %s there is no advice to delete the pod: its unmount would hang', async (name, text) => {
  const { findings } = await answerOn(deadVolumeMount, name);
  expect(findings[0]).toMatchObject({ state: 'active', reason: 'VolumeOfLivePodHangs' });
  expect(findings[0]?.summary).toContain(text);
  expect(JSON.stringify(findings)).not.toContain('delete pod');
});

test('a pod that has ended is not called running, and not to be deleted', async () => {
  const name = 'volume-of-a-finished-pod-fails';
  const { findings } = await answerOn(deadVolumeMount, name);
  expect(findings[0]?.summary).toContain('the finished pod default/reader');
  expect(JSON.stringify(findings)).not.toContain('delete pod');
});
