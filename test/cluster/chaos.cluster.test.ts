import { beforeAll, expect, it } from 'vitest';
import { randomFrom, seedGiven } from '../rig/random-moments.ts';
import { allEnded, diagnose } from './chaos/diagnoses.ts';
import { allDisruptions, type Disruption } from './chaos/disruptions.ts';
import { applyCollectors, NOTE } from './chaos/expect-collected.ts';
import { expectClockMoves } from './chaos/fake-clocks.ts';
import { installForChaos } from './chaos/install-for-chaos.ts';
import { leaderOf, leadRenewed, replaceCrashed } from './chaos/leader.ts';
import { NODES, type RoundPlan, runRound } from './chaos/round.ts';
import { firstHeldMs, watchSlots } from './chaos/slots.ts';
import { runStorm } from './chaos/storm.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

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
const STORM_DISRUPTIONS = 4;
const ROUND_MS = 300_000;

const seed = seedGiven();
const random = randomFrom(seed);

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await installForChaos(cluster);
  await applyCollectors(cluster);
});

it('sets the clock of an agent and that of the leader', async () => {
  const leader = { nodeName: (await leaderOf(cluster)).node, name: 'controller' } as const;
  await expectClockMoves(cluster, leader, () => leadRenewed(cluster));
  let times = 0;
  await expectClockMoves(cluster, { nodeName: NEW_NODE, name: 'agent' }, async () => {
    times += 1;
    const wanted = { name: `clock-${times}`, operationSet: NOTE, on: NEW_NODE };
    await diagnose(cluster, wanted);
    const [seen] = (await allEnded(cluster, [wanted])).slice(-1);
    return seen?.status?.startTime ?? '';
  });
});

/** In an order of the seed: a run that is long enough meets all of them. */
function shuffled(disruptions: readonly Disruption[]): readonly Disruption[] {
  return disruptions
    .map((disruption) => ({ disruption, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ disruption }) => disruption);
}

function chosen(): readonly Disruption[] {
  const all = allDisruptions({ cluster, nodes: NODES, random });
  const those = all.filter(({ name }) => name.includes(KUBEDIAG_CHAOS_ONLY));
  if (those.length === 0) throw new Error(`no disruption is named "${KUBEDIAG_CHAOS_ONLY}"`);
  return those;
}

/** Every second round is aimed at a node in recovery. */
function planOf(round: number, order: readonly Disruption[]): Omit<RoundPlan, 'afterMs'> {
  const isSecondToo = random() < 1 / 5;
  const areBothSick = random() < 1 / 4;
  const isAimed = round % 2 === 1;
  const afterSlotOf = areBothSick && random() < 1 / 2 ? NEW_NODE : OLD_NODE;
  // A kubelet that hangs on a dead mount cannot end.
  const mayBe = ({ node, endsKubelet = false }: Disruption) =>
    !(isAimed && node !== undefined && node !== afterSlotOf) &&
    !(areBothSick && node === NEW_NODE && endsKubelet);
  const possible = order.filter(mayBe);
  const at = round >> 1;
  const disruptions = [at, ...(isSecondToo ? [at + (possible.length >> 1)] : [])].flatMap(
    (place) => possible[place % possible.length] ?? [],
  );
  const name = `round-${round}`;
  return { name, disruptions, areBothSick, ...(isAimed ? { afterSlotOf } : {}) };
}

it(`ends every Diagnosis and does nothing twice, whatever happens, in ${ROUNDS} rounds`, {
  timeout: ROUND_MS * (ROUNDS + 2),
}, async () => {
  console.info(`KUBEDIAG_TEST_SEED=${seed} KUBEDIAG_CHAOS_ROUNDS=${ROUNDS}`);
  const watch = watchSlots(cluster);
  const undisturbed = { name: 'undisturbed', disruptions: [], afterMs: 0, areBothSick: true };
  // A dead volume is probed for some seconds.
  const lengths = { both: (await runRound(cluster, undisturbed, watch)).tookMs, one: 3_000 };
  const holders = watch.changes.map(({ holder }) => holder);
  // Else nobody has watched.
  expect(holders).toEqual(expect.arrayContaining([...NODES]));
  const recoveryMs = firstHeldMs(watch.changes);
  console.info(`a slot was held for ${Math.round(recoveryMs)} ms`);
  const order = shuffled(chosen());
  let [inTime, inRecovery] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const plan = planOf(round, order);
    const kind = plan.areBothSick ? 'both' : 'one';
    const isAimed = plan.afterSlotOf !== undefined;
    // A slot is seen a little after it was taken, and a disruption takes its time.
    const afterMs = random() * (isAimed ? recoveryMs / 2 : lengths[kind]);
    const { tookMs, isInTime, isInRecovery, outcome } = await runRound(
      cluster,
      { ...plan, afterMs },
      watch,
    );
    // The first one is slow, and the load of a machine changes.
    if (!isAimed) lengths[kind] *= isInTime ? 1.1 : 0.6;
    if (isInTime) inTime += 1;
    if (isInRecovery) inRecovery += 1;
    const when = `${Math.round(afterMs)} ms after ${isAimed ? 'the slot' : 'the start'}`;
    const moment = isInRecovery ? ', in recovery,' : isInTime ? '' : ', too late,';
    console.info(
      `${plan.name}, ${kind} sick, ${Math.round(tookMs)} ms: ${when}${moment} ${outcome}`,
    );
    await replaceCrashed(cluster);
  }
  await watch.stop();
  console.info(`${inTime} of ${ROUNDS} in time, ${inRecovery} in recovery`);
  // Else the moments were not those at which something happens.
  expect(inTime).toBeGreaterThan(ROUNDS / 4);
  expect(inRecovery).toBeGreaterThan(ROUNDS / 20);
});

it(`ends ${STORM} Diagnoses that were created at once, and runs each script once, while parts are killed`, {
  timeout: ROUND_MS + STORM * 1_000,
}, async () => {
  const disruptions = shuffled(chosen()).slice(0, STORM_DISRUPTIONS);
  console.info(await runStorm(cluster, NODES, { count: STORM, disruptions }));
});
