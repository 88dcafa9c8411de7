import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readJournal } from '../../src/node/repair/journal.ts';
import { AgentOnNode } from '../rig/agent-on-node.ts';
import { BROKER, makeNode, podOf, RUNNING } from '../rig/faulty-node.ts';
import { DIAGNOSES } from '../rig/faulty-subpath-node.ts';
import { WEB } from '../rig/practice-node.ts';
import { binOf, deleteBin, givePrivateRoot } from '../rig/private-root.ts';
import { type Blow, beginTrial, endTrial, expectCure } from '../rig/recovery-trial.ts';
import { allOf, strikeAll } from '../rig/strike-all.ts';

const NODES = 3;
const ALL_MS = 180_000;
/** By then it has checked what was left unfinished. */
const CHECKED_MS = 1_500;

const API_VERSION = 'diagnosis.kubediag.org/v1';

/** Those moments that are so short that chance misses them (`killed-at-random`). */
const SHORT: Readonly<Record<string, Blow['comes']>> = {
  'it was acknowledged': (_, asked) => asked,
  'the intent was written': (patient) => {
    const before = patient.journal.records.length;
    // On a busy machine the outcome may follow before anybody has seen the intent.
    return until(() => patient.journal.records.length > before);
  },
  'it was unmounted': (patient) => until(() => !patient.line?.includes('//deleted ')),
  'the outcome was written': (patient) => {
    const before = patient.journal.records.length;
    return until(() => patient.journal.records.length >= before + 2);
  },
};

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(1);
}

it.each([{ isWhole: false }, { isWhole: true }])(
  'killed in a short moment of a recovery, with its children: $isWhole, it ends it right',
  { timeout: ALL_MS },
  async ({ isWhole }) => {
    const trials = await allOf(Array.from({ length: NODES }, () => beginTrial()));
    const blows = Object.values(SHORT).map((comes) => ({ comes, isWhole }));
    const rounds = await strikeAll(trials, blows, expectCure);
    console.info(`it was killed when: ${rounds.map(({ stage }) => stage).join(', ')}`);
    await allOf(trials.map(endTrial));
  },
);

it('killed while its unmount waits, it does not start another, and reports how that one ended', async () => {
  const trial = await beginTrial();
  await expectCure(trial, {
    comes: ({ umount }) => {
      umount.close('before');
      return umount.reached('before');
    },
    afterwards: async ({ umount, agent }) => {
      await sleep(CHECKED_MS);
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
  // The check before the second action waits for its answer.
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
