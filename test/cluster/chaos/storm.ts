import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { OLD_NODE, type SharedCluster } from '../shared-cluster.ts';
import { makeSickPod } from '../sick-pod.ts';
import { allEnded, diagnose, failureOf, type SeenDiagnosis } from './diagnoses.ts';
import { type Disruption, disruptOneByOne } from './disruptions.ts';
import { expectCollected, NOTE } from './expect-collected.ts';
import { expectRepaired, subpathFault } from './expect-repaired.ts';

const PAUSE_MS = 3_000;
const STORM_MS = 180_000;
/** Both nodes run 16 at once. */
const EACH_MS = 500;
const NAME = 'storm';

/** Many Diagnoses of both nodes at once, one of which repairs, while one thing after another happens to the cluster. */
export async function runStorm(
  cluster: SharedCluster,
  nodes: readonly string[],
  { count, disruptions }: { readonly count: number; readonly disruptions: readonly Disruption[] },
): Promise<string> {
  const fault = subpathFault(cluster, await makeSickPod(cluster, OLD_NODE, NAME));
  const { operationSet, nodeName } = fault;
  const begun = performance.now();
  const wanted = [
    ...Array.from({ length: count }, (_, at) => ({
      ...{ name: `${NAME}-${at}`, operationSet: NOTE, on: nodes[at % nodes.length] ?? '' },
    })),
    { name: `${NAME}-${operationSet}`, operationSet, on: nodeName },
  ];
  await diagnose(cluster, ...wanted);
  const createdMs = performance.now() - begun;
  const [all, happened] = await Promise.all([
    allEnded(cluster, wanted, STORM_MS + count * EACH_MS),
    disruptOneByOne(cluster, disruptions, () => sleep(PAUSE_MS)),
  ]);
  const endedMs = performance.now() - begun;
  const mayPrevent = disruptions.some((each) => each.mayPrevent === true);
  const what = happened.map(({ text }) => text).join(', ');
  await expectRepaired(cluster, fault, { name: NAME, all, shown: what, mayPrevent });
  const noted = all.filter(({ spec }) => spec.operationSet === NOTE);
  expectCollected(cluster, noted, mayPrevent);
  const failed = noted.filter(({ status }) => status?.phase === 'Failed');
  // What is interrupted is what runs at that moment.
  expect(failed.length, `${what}: ${reasonsOf(failed)}`).toBeLessThan(count / 2);
  await cluster.kubectl('delete', 'diagnoses', '--all', '--wait=false');
  await cluster.kubectl('delete', 'pod', NAME, '--wait=false');
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  return `${count} Diagnoses created in ${seconds(createdMs)}, ended after ${seconds(endedMs)}, ${failed.length} failed: ${what}\n${reasonsOf(failed)}`;
}

/** Each reason, with how often it was given. */
function reasonsOf(failed: readonly SeenDiagnosis[]): string {
  const counts = new Map<string, number>();
  for (const each of failed) {
    // The names of processes and the times differ.
    const reason = failureOf(each).replace(/\d+/g, 'N');
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, times]) => `  ${times} × ${reason}`).join('\n');
}
