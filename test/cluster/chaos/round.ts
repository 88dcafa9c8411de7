import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { NEW_NODE, OLD_NODE, type SharedCluster } from '../shared-cluster.ts';
import { makeSickPod } from '../sick-pod.ts';
import { allEnded, diagnose, type SeenDiagnosis, shownOf } from './diagnoses.ts';
import { type Disruption, disruptOneByOne } from './disruptions.ts';
import { COLLECT, expectCollected } from './expect-collected.ts';
import { expectRepaired, subpathFault, volumeFault } from './expect-repaired.ts';
import { resetFailures } from './install-for-chaos.ts';
import { actionsSince, overlappingActions } from './journals.ts';
import { expectCounted } from './parents.ts';
import { makeSickVolume } from './sick-volume.ts';
import { heldSlots, isHeldAt, type SlotWatch, untilHeldBy, wrongChanges } from './slots.ts';

export const NODES = [NEW_NODE, OLD_NODE];
/** By the policy of this suite. */
const SLOTS = 1;
const SOON = { timeout: 90_000, interval: 500 };

export interface RoundPlan {
  readonly name: string;
  /** One after the other. */
  readonly disruptions: readonly Disruption[];
  /** When the first of them begins: after the Diagnoses were created, or after a node took a slot. */
  readonly afterMs: number;
  readonly afterSlotOf?: string;
  /** Both nodes need a repair, though only one may be in recovery. */
  readonly areBothSick: boolean;
}

export interface Round {
  readonly tookMs: number;
  /** The first disruption met something before all Diagnoses had ended. */
  readonly isInTime: boolean;
  /** A node held a slot when it began. */
  readonly isInRecovery: boolean;
  /** What happened, and what became of the Diagnoses. */
  readonly outcome: string;
}

/** A repair, or two of them, and collectors on both nodes, while something happens to the cluster. */
export async function runRound(
  cluster: SharedCluster,
  { name, disruptions, afterMs, afterSlotOf, areBothSick }: RoundPlan,
  watch: SlotWatch,
): Promise<Round> {
  const pod = await makeSickPod(cluster, OLD_NODE, name);
  const volume = areBothSick ? await makeSickVolume(cluster, NEW_NODE) : undefined;
  const faults = [subpathFault(cluster, pod), ...(volume ? [volumeFault(volume)] : [])];
  const [begun, since, seen] = [performance.now(), Date.now(), watch.changes.length];
  const wanted = [
    ...faults.map(({ operationSet, nodeName }) => ({
      ...{ name: `${name}-${operationSet}`, operationSet, on: nodeName },
    })),
    { name: `${name}-one`, operationSet: COLLECT, on: NEW_NODE },
    { name: `${name}-both`, operationSet: COLLECT, on: NODES },
  ];
  await diagnose(cluster, ...wanted);
  const ended = new AbortController();
  const disrupt = async () => {
    if (disruptions.length === 0) return [];
    if (afterSlotOf !== undefined) await untilHeldBy(watch, afterSlotOf, seen, ended.signal);
    await sleep(afterMs);
    return disruptOneByOne(cluster, disruptions);
  };
  const end = async () => {
    try {
      return { all: await allEnded(cluster, wanted), endedAt: performance.now() };
    } finally {
      ended.abort();
    }
  };
  const [happened, { all, endedAt }] = await Promise.all([disrupt(), end()]);
  const tookMs = performance.now() - begun;
  const what = happened.map(({ text }) => text).join(', then ') || 'nothing';
  const shown = `${name}: ${what}: ${shownOf(...all)}`;
  const mayPrevent = disruptions.some((each) => each.mayPrevent === true);
  for (const fault of faults) {
    await expectRepaired(cluster, fault, { name, all, shown, mayPrevent });
  }
  expectCollected(cluster, all.filter(isCollector), mayPrevent);
  for (const parent of all.filter(({ spec }) => spec.targetSelector)) {
    expectCounted(parent, all, NODES);
  }
  await expect.poll(() => heldSlots(cluster), SOON).toEqual([]);
  const changes = watch.changes.slice(seen);
  expect(wrongChanges(changes, SLOTS), shown).toEqual([]);
  if (!disruptions.some(({ isOfClock }) => isOfClock)) {
    expect(overlappingActions(actionsSince(cluster, since)), shown).toEqual([]);
  }
  await cluster.kubectl('delete', 'diagnoses', '--all', '--wait=false');
  await cluster.kubectl('delete', 'pod', name, '--wait=false');
  await resetFailures(cluster);
  const met = happened.find(({ hasMet }) => hasMet);
  return {
    tookMs,
    isInTime: met !== undefined && met.begunAt < endedAt,
    isInRecovery: met !== undefined && isHeldAt(changes, met.begunAt),
    outcome: `${what}: ${resultsOf(name, all)}`,
  };
}

function isCollector({ spec }: SeenDiagnosis): boolean {
  return spec.operationSet === COLLECT && spec.nodeName !== undefined;
}

// stale-subpath-mount Repaired, one Completed, both Completed
function resultsOf(round: string, all: readonly SeenDiagnosis[]): string {
  return all
    .map(({ metadata, status }) => `${metadata.name.slice(round.length + 1)} ${status?.result}`)
    .join(', ');
}
