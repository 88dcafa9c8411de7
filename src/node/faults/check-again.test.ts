import { expect, test } from 'vitest';
import { nodes as stopped } from '../../../test/faults/kubelet-not-running.ts';
import { nodes as leftovers } from '../../../test/faults/leftover-volume-directory.ts';
import { nodes as metadata } from '../../../test/faults/orphaned-volume-metadata.ts';
import { type NodeMaker, nodeNamed } from '../../../test/synthetic-node.ts';
import { judgeFaults } from '../checkup/judge-faults.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import type { AnyFault } from '../model/fault.ts';
import { kubeletNotRunning } from './kubelet-not-running/fault.ts';
import { leftoverVolumeDirectory } from './leftover-volume-directory/fault.ts';
import { orphanedVolumeMetadata } from './orphaned-volume-metadata/fault.ts';

async function verdictOn(fault: AnyFault, maker: NodeMaker) {
  const [judged] = await judgeFaults([fault], takeSnapshot(maker.build(), maker.settings));
  if (!judged) throw new Error('no verdict');
  return judged.verdict;
}

test.each([
  ['a leftover directory', leftoverVolumeDirectory, leftovers(), 'look-alike-young', 60_000],
  ['a CSI volume file', orphanedVolumeMetadata, metadata(), 'being-removed-just-now', 55_000],
] as const)(
  '%s is found when it is old enough, and not before',
  async (_, fault, nodes, name, ms) => {
    const maker = nodeNamed(name, nodes);
    const young = await verdictOn(fault, maker);
    expect(young).toMatchObject({ state: 'clear', checkAgainInMs: ms });
    const begunMs = maker.clock.getTime();
    maker.clock = new Date(begunMs + ms - 1);
    expect(await verdictOn(fault, maker)).toMatchObject({ state: 'clear', checkAgainInMs: 1 });
    maker.clock = new Date(begunMs - 24 * 3_600_000);
    expect(await verdictOn(fault, maker)).toMatchObject({
      state: 'unknown',
      unknowns: [{ why: expect.stringContaining('the clock of the node was set back') }],
    });
    maker.clock = new Date(begunMs + ms);
    const old = await verdictOn(fault, maker);
    expect(old.findings).toHaveLength(1);
    expect(old.checkAgainInMs).toBeUndefined();
  },
);

test('a kubelet that restarts again and again has recovered when it runs for longer', async () => {
  const maker = nodeNamed('active-crash-loop-and-runs-now', stopped());
  const verdict = await verdictOn(kubeletNotRunning, maker);
  expect(verdict).toMatchObject({ state: 'found', checkAgainInMs: 22_000 });
});

test('a verdict that time alone does not change asks for no other check', async () => {
  const healthy = nodeNamed('healthy', metadata());
  expect((await verdictOn(orphanedVolumeMetadata, healthy)).checkAgainInMs).toBeUndefined();
});
