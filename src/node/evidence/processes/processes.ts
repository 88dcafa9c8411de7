import { defineEvidence } from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { podOfCgroup } from '../pods/pod-of-cgroup.ts';

/** Asked once for all that want to know of one moment: a full node has thousands. */
export const processes = defineEvidence<readonly ProcessEntry[]>({
  id: 'processes',
  title: 'Every process of the node',
  collect: (snapshot) => snapshot.node.ask('processes', { all: 'processes' }),
});

/** Pods of which a process runs. One that has ended, and waits to be reaped, does not. */
export function countLivePods(all: readonly ProcessEntry[]): number {
  const live = all.filter(({ state }) => state !== 'Z' && state !== 'X');
  return new Set(live.flatMap(({ cgroups }) => podOfCgroup(cgroups) ?? [])).size;
}
