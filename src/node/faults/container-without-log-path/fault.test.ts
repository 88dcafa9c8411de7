import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { healedOn } from '../../../../test/fault-fixtures.ts';
import { nodes, optionalReads } from '../../../../test/faults/container-without-log-path.ts';
import { containerWithoutLogPath } from './fault.ts';

describeFault(containerWithoutLogPath, { nodes: nodes(), optionalReads });

test.each([
  ['the container is removed and /bin is restored', 'healthy', true],
  ['the container is removed and /bin is gone', 'damaged-and-disarmed', false],
  ['/bin is restored and the container is still there', 'latent-exited', false],
  ['the runtime does not answer', 'unclear-runtime-silent', false],
  ['/bin cannot be read', 'unclear-bin', false],
])('after the repair of a damaged node %s', async (_, after, isHealed) => {
  expect(await healedOn(containerWithoutLogPath, 'damaged-and-active', after)).toBe(isHealed);
});

test('one of two containers that is left has not healed', async () => {
  const before = 'damaged-two-containers';
  expect(await healedOn(containerWithoutLogPath, before, 'latent-exited')).toBe(false);
  expect(await healedOn(containerWithoutLogPath, before, 'healthy')).toBe(true);
});

test('where /bin was not deleted, the removal of the container is all', async () => {
  const isHealed = await healedOn(containerWithoutLogPath, 'latent-exited', 'damaged-and-disarmed');
  expect(isHealed).toBe(true);
});
