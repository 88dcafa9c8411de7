import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn, describeVerdicts } from '../../../../test/describe-verdicts.ts';
import { runtimeNotResponding } from './fault.ts';

describeFault(runtimeNotResponding, import.meta.dirname);
describeVerdicts(runtimeNotResponding, import.meta.dirname);

const home = join(import.meta.dirname, 'fixtures');

test('a runtime in a pod is not the one of the node', async () => {
  const name = 'active-hangs-and-another-in-a-pod';
  const { findings } = await answerOn(runtimeNotResponding, join(home, name));
  expect(findings[0]).toMatchObject({ reason: 'RuntimeHangs' });
  expect(JSON.stringify(findings)).not.toContain('kill -CONT');
});

test('an option that names another socket is corrected by the one of the kubelet', async () => {
  const { reason } = await answerOn(runtimeNotResponding, join(home, 'unclear-other-endpoint'));
  expect(reason).toContain('uses /run/containerd/containerd.sock');
});

test('a process that has ended, and was not yet reaped, is no pod that runs', async () => {
  const name = 'active-killed-with-its-pods';
  const { findings } = await answerOn(runtimeNotResponding, join(home, name));
  expect(findings[0]?.summary).toContain('No process of a pod runs.');
});
