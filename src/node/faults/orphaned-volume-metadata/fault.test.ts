import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn, healedOn } from '../../../../test/fault-fixtures.ts';
import {
  nodes,
  optionalReads,
  unreadNode,
} from '../../../../test/faults/orphaned-volume-metadata.ts';
import { orphanedVolumeMetadata } from './fault.ts';

describeFault(orphanedVolumeMetadata, { nodes: nodes(), optionalReads });

test.each([
  ['the file is gone', 'healthy', true],
  ['the file is still there', 'latent-silent', false],
])('after the repair %s', async (_, after, isHealed) => {
  expect(await healedOn(orphanedVolumeMetadata, 'active-kubelet-complains', after)).toBe(isHealed);
});

test('where the directories of the pods cannot be read, nothing has healed', async () => {
  const before = 'active-kubelet-complains';
  expect(await healedOn(orphanedVolumeMetadata, before, unreadNode())).toBe(false);
});

test('a complaint of the kubelet alone is a suspicion', async () => {
  const { verdict, reason } = await answerOn(orphanedVolumeMetadata, unreadNode());
  expect(verdict).toBe('unknown');
  expect(reason).toContain('suspected: the kubelet cannot remove pod 0b5cf1de');
});
