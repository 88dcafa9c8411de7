import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { NEW_NODE, OLD_NODE, type SharedCluster } from '../shared-cluster.ts';
import { makeSickPod } from '../sick-pod.ts';
import { allEnded, diagnose, type SeenDiagnosis, shownOf } from './diagnoses.ts';
import { COLLECT, expectCollected } from './expect-collected.ts';
import { expectRepaired, subpathFault, volumeFault } from './expect-repaired.ts';
import { actsAtOnce, actsSince } from './journals.ts';
import { expectCounted } from './parents.ts';
import { makeSickVolume } from './sick-volume.ts';
import { heldSlots, type SlotWatch, wrongChanges } from './slots.ts';
import type { Strike } from './strikes.ts';

export const NODES = [NEW_NODE, OLD_NODE];
/** By the policy of this suite. */
const SLOTS = 1;
const SOON = { timeout: 90_000, interval: 500 };

export interface RoundPlan {
  readonly name: string;
  readonly strikes: readonly Strike[];
  /** When the first of them strikes; the others follow. */
  readonly afterMs: number;
  /** Both nodes need a repair, though only one may be in recovery. */
  readonly areBothSick: boolean;
}

export interface Round {
  readonly tookMs: number;
  /** It struck before all Diagnoses had ended. */
  readonly isInTime: boolean;
  /** What struck, and what came of the Diagnoses. */
  readonly outcome: string;
}

/** A repair, or two of them, and collectors on both nodes, while something happens to the cluster. */
export async function runRound(
  cluster: SharedCluster,
  { name, strikes, afterMs, areBothSick }: RoundPlan,
  watch: SlotWatch,
): Promise<Round> {
  const pod = await makeSickPod(cluster, OLD_NODE, name);
  const volume = areBothSick ? await makeSickVolume(cluster, NEW_NODE) : undefined;
  const faults = [subpathFault(cluster, pod), ...(volume ? [volumeFault(volume)] : [])];
  const [begun, since, seen] = [performance.now(), Date.now(), watch.changes.length];
  await diagnose(
    cluster,
    ...faults.map(({ operationSet, nodeName }) => ({
      ...{ name: `${name}-${operationSet}`, operationSet, on: nodeName },
    })),
    { name: `${name}-one`, operationSet: COLLECT, on: NEW_NODE },
    { name: `${name}-both`, operationSet: COLLECT, on: NODES },
  );
  const [struck, [all, endedMs]] = await Promise.all([
    sleep(strikes.length > 0 ? afterMs : 0).then(() => strikeOneByOne(strikes)),
    allEnded(cluster).then((found) => [found, performance.now() - begun] as const),
  ]);
  const tookMs = performance.now() - begun;
  const shown = `${name}: ${struck}: ${shownOf(...all)}`;
  const mayPrevent = strikes.some((strike) => strike.mayPrevent === true);
  for (const fault of faults) {
    await expectRepaired(cluster, fault, { name, all, shown, mayPrevent });
  }
  expectCollected(cluster, all.filter(isCollector), mayPrevent);
  for (const parent of all.filter(({ spec }) => spec.targetSelector)) {
    expectCounted(parent, all, NODES);
  }
  await expect.poll(() => heldSlots(cluster), SOON).toEqual([]);
  expect(wrongChanges(watch.changes.slice(seen), SLOTS), shown).toEqual([]);
  const acts = actsSince(cluster, since);
  if (!strikes.some(({ isOfClock }) => isOfClock)) expect(actsAtOnce(acts), shown).toEqual([]);
  await cluster.kubectl('delete', 'diagnoses', '--all', '--wait=false');
  await cluster.kubectl('delete', 'pod', name, '--wait=false');
  return { tookMs, isInTime: endedMs > afterMs, outcome: `${struck}: ${resultsOf(name, all)}` };
}

async function strikeOneByOne(strikes: readonly Strike[]): Promise<string> {
  const struck: string[] = [];
  for (const { name, strike } of strikes) struck.push(`${name} ${await strike()}`.trim());
  return struck.join(', then ') || 'nothing';
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
