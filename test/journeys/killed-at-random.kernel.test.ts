import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { beginDeadVolumeTrial, expectRecovery, killOn } from '../rig/dead-volume-trial.ts';
import { STAGES, type Stage } from '../rig/faulty-subpath-node.ts';
import type { Blow } from '../rig/kill-running.ts';
import { momentsOf, randomFrom, seedGiven } from '../rig/random-moments.ts';
import { beginRecoverTrial, expectRecovered, type RecoverTrial } from '../rig/recover-trial.ts';
import { type Blow as AgentBlow, beginTrial, endTrial, expectCure } from '../rig/recovery-trial.ts';
import { allOf, strikeAll } from '../rig/strike-all.ts';

/** How often something is killed; `npm run soak` asks for more. */
const { KUBEDIAG_SOAK_KILLS = '50' } = process.env;
const KILLS = Number(KUBEDIAG_SOAK_KILLS);
const ALL_MS = Math.max(300_000, KILLS * 4_000);

/** Of the kills, those on dead volumes and those of recoveries; the rest are of agents. */
const ON_DEAD_VOLUMES = Math.round(KILLS * 0.4);
const OF_RECOVERIES = Math.round(KILLS * 0.3);
const OF_AGENTS = KILLS - ON_DEAD_VOLUMES - OF_RECOVERIES;

const DEAD_VOLUME_NODES = 4;
/** From the start of a check to the end of its first probe of a dead volume. */
const CHECK_MS = 2_500;
/** By then its reader waits on the dead volume. */
const WAITS_MS = 1_500;
/** So few leave fewer readers behind than those from which on no mount is probed any more. */
const BEFORE_RECOVERY = 5;
/** Every fourth time it is a recovery. */
const RECOVER_EVERY = 4;

/** A blow in this part of the time should come near the end. */
const LAST_PART = 0.7;
/** No recovery takes so long. */
const LONG_MS = 40_000;

/** Every fifth time an agent is killed once more, while it stands up or goes on. */
const TWICE_EVERY = 5;
/** Every seventh time all that it has started is killed with it. */
const WHOLE_EVERY = 7;

/** Each kind has numbers of its own: they run side by side, in no certain order. */
const seed = seedGiven();

/** A check or a recovery that is killed on a dead volume leaves nothing that blocks a recovery. */
async function killOnDeadVolumes(): Promise<number> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const blows: Blow[] = [
    ...signals.map((signal) => ({ afterMs: WAITS_MS, signal })),
    ...momentsOf(ON_DEAD_VOLUMES, randomFrom(seed)).map((moment) => ({
      afterMs: moment * CHECK_MS,
    })),
  ];
  const batches = Array.from({ length: Math.ceil(blows.length / BEFORE_RECOVERY) }, (_, at) =>
    blows.slice(at * BEFORE_RECOVERY, (at + 1) * BEFORE_RECOVERY),
  );
  const nodes = Math.min(DEAD_VOLUME_NODES, batches.length);
  const trials = await allOf(Array.from({ length: nodes }, () => beginDeadVolumeTrial()));
  const inTime = await strikeAll(trials, batches, async (trial, batch) => {
    const struck: boolean[] = [];
    for (const [at, blow] of batch.entries()) {
      const isRecover = at % RECOVER_EVERY === RECOVER_EVERY - 1;
      struck.push(await killOn(trial, isRecover ? 'recover' : 'check', blow));
    }
    await expectRecovery(trial);
    return struck.filter(Boolean).length;
  });
  return inTime.reduce((sum, count) => sum + count, 0);
}

async function killRecoveries(): Promise<number> {
  const trial = await beginRecoverTrial();
  const undisturbed = await expectRecovered(trial, { afterMs: LONG_MS });
  let lengthMs = undisturbed.tookMs;
  const strike = async (one: RecoverTrial, moment: number) => {
    const { isInTime, tookMs } = await expectRecovered(one, { afterMs: moment * lengthMs });
    // The load of a machine changes under it.
    if (!isInTime) lengthMs = tookMs;
    else if (moment > LAST_PART) lengthMs *= 1.1;
    return isInTime;
  };
  const struck = await strikeAll([trial], momentsOf(OF_RECOVERIES, randomFrom(seed + 1)), strike);
  return struck.filter(Boolean).length;
}

async function killAgents(): Promise<readonly Stage[]> {
  const random = randomFrom(seed + 2);
  const trial = await beginTrial();
  let lengthMs = (await expectCure(trial)).tookMs;
  const learn = (moment: number, stage: Stage) => {
    const isEarly = STAGES.indexOf(stage) < STAGES.indexOf('step 4');
    if (stage === 'ended') lengthMs *= 0.9;
    else if (moment > LAST_PART && isEarly) lengthMs *= 1.1;
  };
  const blows = momentsOf(OF_AGENTS, random).map(
    (moment, index): AgentBlow => ({
      comes: () => sleep(moment * lengthMs),
      isWhole: index % WHOLE_EVERY === 0,
      ...(index % TWICE_EVERY === 0 ? { againAfterMs: random() * lengthMs } : {}),
      onStage: (stage) => learn(moment, stage),
    }),
  );
  const rounds = await strikeAll([trial], blows, expectCure);
  await endTrial(trial);
  return rounds.map(({ stage }) => stage);
}

it('killed at any moment, nothing is done twice, lost, or left in the way of the next run', {
  timeout: ALL_MS,
}, async () => {
  console.info(`KUBEDIAG_TEST_SEED=${seed} KUBEDIAG_SOAK_KILLS=${KILLS}`);
  const onDeadVolumes = killOnDeadVolumes();
  const ofRecoveries = killRecoveries();
  const ofAgents = killAgents();
  await Promise.allSettled([onDeadVolumes, ofRecoveries, ofAgents]);
  const stages = await ofAgents;
  const counted = STAGES.map((each) => `${each} ${stages.filter((one) => one === each).length}`);
  console.info(
    `killed in time: ${await onDeadVolumes} of ${ON_DEAD_VOLUMES + 3} on dead volumes, ` +
      `${await ofRecoveries} of ${OF_RECOVERIES} recoveries; agents when: ${counted.join(', ')}`,
  );
  // Else the moments were not those at which something happens.
  expect(await onDeadVolumes).toBeGreaterThan(ON_DEAD_VOLUMES / 3);
  expect(await ofRecoveries).toBeGreaterThan(OF_RECOVERIES / 3);
  expect(stages.filter((stage) => stage !== 'ended').length).toBeGreaterThan(OF_AGENTS / 5);
  expect(new Set(stages).size).toBeGreaterThan(1);
});
