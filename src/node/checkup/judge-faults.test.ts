import { expect, test } from 'vitest';
import { nodes } from '../../../test/faults/kubelet-not-running.ts';
import { nodeNamed } from '../../../test/synthetic-node.ts';
import { kubeletNotRunning } from '../faults/kubelet-not-running/fault.ts';
import { judgeFaults } from './judge-faults.ts';
import { takeSnapshot } from './take-snapshot.ts';

test('a check of one pod reports what concerns every pod of the node', async () => {
  const node = nodeNamed('active-crashed', nodes()).build();
  const only = { namespace: 'default', name: 'web-0' };
  const [judged] = await judgeFaults([kubeletNotRunning], takeSnapshot(node), only);
  expect(judged?.verdict).toMatchObject({ state: 'found', findings: [{ state: 'active' }] });
});
