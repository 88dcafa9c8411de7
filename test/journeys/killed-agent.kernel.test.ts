import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readJournal } from '../../src/repair/journal.ts';
import { AgentOnNode } from '../rig/agent-on-node.ts';
import { WEB } from '../rig/practice-node.ts';
import { binOf, deleteBin, givePrivateRoot } from '../rig/private-root.ts';
import { momentsOf, randomFrom, seedGiven } from '../rig/random-moments.ts';
import {
  type Blow,
  beginTrial,
  endTrial,
  expectCure,
  type RecoveryTrial,
} from '../rig/recovery-trial.ts';
import { BROKER, makeNode, podOf, RUNNING } from '../rig/sick-node.ts';
import { DIAGNOSES, STAGES, type Stage } from '../rig/subpath-patient.ts';

const KILLS = 50;
const NODES = 3;
/** Every fifth time it is killed once more, while it stands up or goes on. */
const TWICE_EVERY = 5;
/** Every seventh time all that it has started is killed with it. */
const WHOLE_EVERY = 7;
const ALL_MS = 300_000;
/** By then it has looked at what was left open. */
const LOOKED_MS = 1_500;

const API_VERSION = 'diagnosis.kubediag.org/v1';

const seed = seedGiven();
const random = randomFrom(seed);

/** How long a recovery takes, by the latest signs: the load of a machine changes under it. */
class Pace {
  lengthMs: number;

  constructor(lengthMs: number) {
    this.lengthMs = lengthMs;
  }

  /** Whether a blow at this part of the time came too late, or the last ones come too early. */
  learn(moment: number, stage: Stage): void {
    if (stage === 'ended') this.lengthMs *= 0.9;
    else if (moment > 0.7 && STAGES.indexOf(stage) < STAGES.indexOf('step 4')) this.lengthMs *= 1.1;
  }
}

/** One blow in each part of the time, now and then two, or one that spares nothing. */
function randomBlows(pace: Pace): readonly Blow[] {
  return momentsOf(KILLS, random).map((moment, index) => ({
    comes: () => sleep(moment * pace.lengthMs),
    isWhole: index % WHOLE_EVERY === 0,
    ...(index % TWICE_EVERY === 0 ? { againAfterMs: random() * pace.lengthMs } : {}),
    onStage: (stage) => pace.learn(moment, stage),
  }));
}

/** Those moments that are so short that chance misses them. */
const SHORT: Readonly<Record<string, Blow['comes']>> = {
  'it was acknowledged': (_, asked) => asked,
  'the intent was written': (patient) => until(() => patient.journal.unfinished.length > 0),
  'it was unmounted': (patient) => until(() => !patient.line?.includes('//deleted ')),
  'the outcome was written': (patient) => {
    const before = patient.journal.records.length;
    return until(() => patient.journal.records.length >= before + 2);
  },
};

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(1);
}

/** When one fails, the others come to their end first: each has a node under its hands. */
async function allOf<T>(running: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

/** Each node takes the next blow when it is done with one. */
async function strikeAll(
  trials: readonly RecoveryTrial[],
  blows: readonly Blow[],
): Promise<Stage[]> {
  const left = [...blows];
  const stages: Stage[] = [];
  const strike = async (trial: RecoveryTrial) => {
    for (let blow = left.shift(); blow; blow = left.shift()) {
      stages.push((await expectCure(trial, blow)).stage);
    }
  };
  await allOf(trials.map((trial) => strike(trial).finally(() => left.splice(0))));
  return stages;
}

function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function counted(stages: readonly Stage[]): string {
  const one = (stage: Stage) => `${stage} ${stages.filter((each) => each === stage).length}`;
  return STAGES.map(one).join(', ');
}

it('killed at any moment of a recovery, it ends it right, does nothing twice and loses nothing', {
  timeout: ALL_MS,
}, async () => {
  const trials = await allOf(Array.from({ length: NODES }, () => beginTrial()));
  // All at once, as they are below: a machine that is busy takes its time.
  const undisturbed = await allOf(trials.map((trial) => expectCure(trial)));
  const pace = new Pace(medianOf(undisturbed.map(({ tookMs }) => tookMs)));
  console.info(`KUBEDIAG_TEST_SEED=${seed}; undisturbed it takes ${pace.lengthMs} ms`);
  const stages = await strikeAll(trials, randomBlows(pace));
  console.info(`at random it was killed when: ${counted(stages)}`);
  expect(stages).toHaveLength(KILLS);
  // Else the moments were not those of a recovery.
  expect(stages.filter((stage) => stage !== 'ended').length).toBeGreaterThan(KILLS / 2);
  expect(new Set(stages).size).toBeGreaterThan(2);

  const short = Object.values(SHORT).flatMap((comes) => [{ comes }, { comes, isWhole: true }]);
  const others = await strikeAll(trials, short);
  console.info(`in short moments it was killed when: ${counted(others)}`);
  await allOf(trials.map(endTrial));
});

it('killed while its unmount waits, it does not begin another, and tells how that one ended', async () => {
  const trial = await beginTrial();
  await expectCure(trial, {
    comes: ({ umount }) => {
      umount.close('before');
      return umount.reached('before');
    },
    afterwards: async ({ umount, agent }) => {
      await sleep(LOOKED_MS);
      expect(await agent.object(`${DIAGNOSES}/round-1`)).toMatchObject({
        status: { phase: 'Running', checkpoint: { nodeIndex: 3 } },
      });
      umount.open('before');
    },
  });
  await endTrial(trial);
});

it('killed between two actions of one recovery, it does the second, and the first not again', async () => {
  const { node, runtime } = await makeNode();
  await givePrivateRoot(node);
  await node.startKubelet({ says: { version: 'v1.34.1', pods: [podOf(WEB)] } });
  runtime.containers = [RUNNING, BROKER];
  deleteBin(node);
  const agent = new AgentOnNode(node, 'here');
  await agent.stand();
  const spec = { operationSet: 'container-without-log-path', nodeName: 'here' };
  const diagnosis = { apiVersion: API_VERSION, kind: 'Diagnosis', metadata: { name: 'two' }, spec };
  expect(await agent.ask('POST', DIAGNOSES, diagnosis)).toMatchObject({ code: 201 });
  const kinds = () =>
    readJournal(node.stateFolder).records.map(({ action, event }) => `${action.kind} ${event}`);
  // Whoever looks again before the second action waits for its answer.
  const killed = Promise.withResolvers<void>();
  runtime.beforeAnswer = () => (kinds().length < 2 ? undefined : killed.promise);
  await until(() => kinds().length >= 2);
  await agent.end('SIGKILL');
  killed.resolve();
  expect(kinds()).toEqual(['remove-container intended', 'remove-container concluded']);
  await agent.stand();
  const { status } = await agent.untilEnded(`${DIAGNOSES}/two`);
  expect(status).toMatchObject({
    phase: 'Succeeded',
    actions: [
      { kind: 'remove-container', state: 'done' },
      { kind: 'restore-symlink', state: 'done' },
    ],
  });
  expect(binOf(node)).toBe('usr/bin');
  expect(runtime.commands.filter((each) => each.startsWith('RemoveContainer'))).toEqual([
    'RemoveContainer mqtt',
  ]);
  expect(kinds()).toHaveLength(4);
  expect(await agent.end('SIGTERM')).toMatchObject({ code: 0 });
});
