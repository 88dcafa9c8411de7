import { defineEvidence } from '../../model/evidence.ts';
import { mountProbes } from '../mounts/mount-probes.ts';
import { type ThreadStacks, threadStacks } from './thread-stacks.ts';

/** The stacks of blocked threads, read only if a mount does not respond. */
export type DeadMountStacks = Pick<ThreadStacks, 'threads'>;

export const deadMountStacks = defineEvidence<DeadMountStacks>({
  id: 'dead-mount-stacks',
  title: 'What the kubelet does on the mounts that do not answer',
  collect: async (snapshot) => {
    const { probes } = await snapshot.of(mountProbes);
    // Otherwise the stacks are of no use, and the node is spared the load.
    const isAnyDead = probes.some(({ result }) => result.state === 'dead');
    return isAnyDead ? snapshot.of(threadStacks) : { threads: [] };
  },
});
