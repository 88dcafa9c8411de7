import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedCluster } from '../shared-cluster.ts';
import { allEnded, diagnose } from './diagnoses.ts';
import { expectCollected, NOTE } from './expect-collected.ts';
import type { Strike } from './strikes.ts';

const PAUSE_MS = 3_000;
const STORM_MS = 180_000;
/** Both nodes run 16 at once. */
const EACH_MS = 500;

/** Many Diagnoses of both nodes at once, while one thing after another happens to the cluster. */
export async function runStorm(
  cluster: SharedCluster,
  nodes: readonly string[],
  { count, strikes }: { readonly count: number; readonly strikes: readonly Strike[] },
): Promise<string> {
  const begun = performance.now();
  const names = Array.from({ length: count }, (_, at) => `storm-${at}`);
  await diagnose(
    cluster,
    ...names.map((name, at) => ({
      ...{ name, operationSet: NOTE, on: nodes[at % nodes.length] ?? '' },
    })),
  );
  const createdMs = performance.now() - begun;
  const struck: string[] = [];
  const strikeOn = async () => {
    for (const { name, strike } of strikes) {
      await sleep(PAUSE_MS);
      struck.push(`${name} ${await strike()}`.trim());
    }
  };
  const [all] = await Promise.all([allEnded(cluster, STORM_MS + count * EACH_MS), strikeOn()]);
  const endedMs = performance.now() - begun;
  expectCollected(
    cluster,
    all,
    strikes.some(({ mayPrevent }) => mayPrevent === true),
  );
  await cluster.kubectl('delete', 'diagnoses', '--all', '--wait=false');
  const failed = all.filter(({ status }) => status?.phase === 'Failed').length;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  return `${count} Diagnoses created in ${seconds(createdMs)}, ended after ${seconds(endedMs)}, ${failed} failed: ${struck.join(', ')}`;
}
