import { beforeAll, expect, it } from 'vitest';
import { randomFrom, seedGiven } from '../rig/random-moments.ts';
import { applyCollectors } from './chaos/expect-collected.ts';
import { installForChaos } from './chaos/install-for-chaos.ts';
import { replaceCrashed } from './chaos/leader.ts';
import { NODES, type RoundPlan, runRound } from './chaos/round.ts';
import { watchSlots } from './chaos/slots.ts';
import { runStorm } from './chaos/storm.ts';
import { allStrikes, type Strike } from './chaos/strikes.ts';
import { MIXED, NEW_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** `npm run soak` asks for more. */
const {
  KUBEDIAG_CHAOS_ROUNDS = '10',
  KUBEDIAG_CHAOS_STORM = '100',
  KUBEDIAG_CHAOS_ONLY = '',
} = process.env;
/** How often something happens to the cluster. */
const ROUNDS = Number(KUBEDIAG_CHAOS_ROUNDS);
/** Diagnoses that are created at once. */
const STORM = Number(KUBEDIAG_CHAOS_STORM);
const STORM_STRIKES = 4;
const ROUND_MS = 300_000;

const seed = seedGiven();
const random = randomFrom(seed);

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await installForChaos(cluster);
  await applyCollectors(cluster);
});

/** Strikes in an order of the seed: a run that is long enough meets all of them. */
function shuffled(strikes: readonly Strike[]): readonly Strike[] {
  return strikes
    .filter(({ name }) => name.includes(KUBEDIAG_CHAOS_ONLY))
    .map((strike) => ({ strike, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ strike }) => strike);
}

/** Now and then a second strike follows the first, or both nodes need a repair. */
function planOf(round: number, order: readonly Strike[]): Omit<RoundPlan, 'afterMs'> {
  const isSecondToo = random() < 1 / 5;
  const strikes = [0, ...(isSecondToo ? [order.length >> 1] : [])].flatMap(
    (offset) => order[(round + offset) % order.length] ?? [],
  );
  // A kubelet that hangs on a dead mount cannot end.
  const mayHang = strikes.every(({ kubeletOf }) => kubeletOf !== NEW_NODE);
  const areBothSick = random() < 1 / 4 && mayHang;
  return { name: `round-${round}`, strikes, areBothSick };
}

const order = () => shuffled(allStrikes({ cluster, nodes: NODES, random }));

it(`ends every Diagnosis and does nothing twice, whatever happens, in ${ROUNDS} rounds`, {
  timeout: ROUND_MS * (ROUNDS + 2),
}, async () => {
  console.info(`KUBEDIAG_TEST_SEED=${seed} KUBEDIAG_CHAOS_ROUNDS=${ROUNDS}`);
  const watch = watchSlots(cluster);
  const undisturbed = { name: 'undisturbed', strikes: [], afterMs: 0, areBothSick: true };
  // A dead volume is probed for some seconds.
  const lengths = { both: (await runRound(cluster, undisturbed, watch)).tookMs, one: 3_000 };
  const holders = watch.changes.map(({ holder }) => holder);
  // Else nobody has watched.
  expect(holders).toEqual(expect.arrayContaining([...NODES]));
  const strikes = order();
  let inTime = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const plan = planOf(round, strikes);
    const kind = plan.areBothSick ? 'both' : 'one';
    const afterMs = random() * lengths[kind];
    const { tookMs, isInTime, outcome } = await runRound(cluster, { ...plan, afterMs }, watch);
    // The first one is slow, and the load of a machine changes.
    lengths[kind] *= isInTime ? 1.1 : 0.6;
    if (isInTime) inTime += 1;
    const [after, took] = [Math.round(afterMs), Math.round(tookMs)];
    const what = `after ${after} ms${isInTime ? '' : ', too late,'} ${outcome}`;
    console.info(`${plan.name}, ${kind} sick, ${took} ms: ${what}`);
    await replaceCrashed(cluster);
  }
  await watch.stop();
  // Else the moments were not those at which something happens.
  expect(inTime).toBeGreaterThan(ROUNDS / 4);
});

it(`ends ${STORM} Diagnoses that were created at once, and runs each script once, while parts are killed`, {
  timeout: ROUND_MS + STORM * 1_000,
}, async () => {
  const strikes = order().slice(0, STORM_STRIKES);
  console.info(await runStorm(cluster, NODES, { count: STORM, strikes }));
});
