import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn } from '../../../../test/fault-fixtures.ts';
import { nodes } from '../../../../test/faults/runtime-not-responding.ts';
import { runtimeNotResponding } from './fault.ts';

describeFault(runtimeNotResponding, { nodes: nodes() });

test('a runtime in a pod is not the one of the node', async () => {
  const name = 'active-hangs-and-another-in-a-pod';
  const { findings } = await answerOn(runtimeNotResponding, name);
  expect(findings[0]).toMatchObject({ reason: 'RuntimeHangs' });
  expect(JSON.stringify(findings)).not.toContain('kill -CONT');
});

test('an option that names another socket is corrected by the one of the kubelet', async () => {
  const { reason } = await answerOn(runtimeNotResponding, 'unclear-other-endpoint');
  expect(reason).toContain('uses /run/containerd/containerd.sock');
});

test('a process that has ended, and was not yet reaped, is no pod that runs', async () => {
  const name = 'active-killed-with-its-pods';
  const { findings } = await answerOn(runtimeNotResponding, name);
  expect(findings[0]?.summary).toContain('No process is in the cgroup of a pod.');
});

test('the report lists a denied read of the socket of the runtime as a failure', async () => {
  expect(await answerOn(runtimeNotResponding, 'unclear-not-root')).toMatchObject({
    failures: ['denied'],
  });
});
