import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { NEW_NODE, OLD_NODE, type SharedCluster } from '../shared-cluster.ts';
import type { SickPod } from '../sick-pod.ts';
import { allEnded, diagnose, type SeenDiagnosis, shownOf, wasTooSlow } from './diagnoses.ts';
import { actionsOn } from './journals.ts';
import type { SickVolume } from './sick-volume.ts';

/** A fault that was made on a node, and that one action repairs. */
interface MadeFault {
  readonly operationSet: string;
  readonly nodeName: string;
  readonly isThere: () => boolean;
  /** After the repair. */
  readonly clean?: () => Promise<void>;
}

export function subpathFault(cluster: SharedCluster, { mount }: SickPod): MadeFault {
  const table = () => readFileSync(`/proc/${cluster.node(OLD_NODE).pid}/mountinfo`, 'utf8');
  return {
    operationSet: 'stale-subpath-mount',
    nodeName: OLD_NODE,
    isThere: () => table().includes(`//deleted ${mount} `),
  };
}

export function volumeFault({ isMounted, clean }: SickVolume): MadeFault {
  return { operationSet: 'dead-volume-mount', nodeName: NEW_NODE, isThere: isMounted, clean };
}

/** What came of a round. */
interface Ended {
  readonly name: string;
  readonly all: readonly SeenDiagnosis[];
  readonly shown: string;
  /** A step may have refused to act, and then nothing has changed. */
  readonly mayPrevent: boolean;
}

/** By exactly one action, which is in the journal of the node; otherwise the next Diagnosis repairs it. */
export async function expectRepaired(
  cluster: SharedCluster,
  fault: MadeFault,
  { name, all, shown, mayPrevent }: Ended,
): Promise<void> {
  const { operationSet, nodeName, isThere, clean } = fault;
  const seen = all.find(({ metadata }) => metadata.name === `${name}-${operationSet}`);
  if (!seen) throw new Error(`${shown}: no ${operationSet}`);
  const { metadata, status } = seen;
  const done = actionsOn(cluster, nodeName, shown).of(metadata.uid);
  const isRepaired = status?.phase === 'Succeeded';
  if (!mayPrevent && !wasTooSlow(seen)) expect(status?.phase, shown).toBe('Succeeded');
  expect(done.length, shown).toBe(isRepaired ? 1 : 0);
  // The kubelet ended after the action and before the check of it, which reads its mounts.
  const isUnverified = /it was done, but could not be verified/.test(JSON.stringify(status));
  const isLeft = !isRepaired && !isUnverified;
  expect(isThere(), shown).toBe(isLeft);
  if (isLeft) {
    const again = `${name}-${operationSet}-again`;
    const wanted = { name: again, operationSet, on: nodeName };
    await diagnose(cluster, wanted);
    const ended = (await allEnded(cluster, [wanted])).find((each) => each.metadata.name === again);
    expect(ended?.status?.phase, ended && shownOf(ended)).toBe('Succeeded');
    expect(actionsOn(cluster, nodeName, again).of(ended?.metadata.uid ?? '')).toHaveLength(1);
    expect(isThere(), again).toBe(false);
  }
  await clean?.();
}
