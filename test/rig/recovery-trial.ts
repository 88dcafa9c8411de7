import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { StoredObject } from '../../src/pipeline/store/store.ts';
import { type AgentOnNode, type Answered, eventually, programsOn } from './agent-on-node.ts';
import { CORE, DIAGNOSES, FaultySubpathNode, type Stage } from './faulty-subpath-node.ts';
import { mountChanges, mountTables } from './mount-tables.ts';
import { expectPrintedStatus, type PrintedDiagnosis } from './printed-status.ts';

const MANIFEST = join(import.meta.dirname, '../manifests/subpath-remount.yaml');
const API_VERSION = 'diagnosis.kubediag.org/v1';
/** Between two objects that somebody has the agent keep meanwhile. */
const WRITE_MS = 80;

/** A node with its agent and the manual's manifests, and all that the agent said it has stored. */
export interface RecoveryTrial {
  readonly patient: FaultySubpathNode;
  /** What runs there without an agent. */
  readonly idle: readonly string[];
  /** The Diagnoses as they were when they ended, by name. */
  readonly ended: Map<string, StoredObject>;
  /** The names of other objects. */
  readonly beside: string[];
}

/** A moment at which the agent is killed. */
export interface Blow {
  /** Resolves then. It is called right after the Diagnosis was asked for. */
  readonly comes: (patient: FaultySubpathNode, asked: Promise<unknown>) => Promise<unknown>;
  /** With all that it has started. */
  readonly isWhole?: boolean;
  /** From its next start to the second blow. */
  readonly againAfterMs?: number;
  /** Gets the progress of the Diagnosis. */
  readonly onStage?: (stage: Stage) => void;
  /** What happens when it stands again. */
  readonly afterwards?: (patient: FaultySubpathNode) => Promise<unknown>;
}

export interface Round {
  readonly tookMs: number;
  /** How far it had come when the agent was killed. */
  readonly stage: Stage;
}

export async function beginTrial(): Promise<RecoveryTrial> {
  const patient = await FaultySubpathNode.make();
  const { node, agent } = patient;
  const idle = programsOn(node);
  await agent.stand();
  const applied = await node.kubediag('apply', '-f', MANIFEST, '--state-dir', node.stateFolder);
  expect(applied, applied.stderr).toMatchObject({ code: 0 });
  // The Diagnosis of the manual: each round has its own.
  const deleted = await agent.ask('DELETE', `${DIAGNOSES}/subpath-remount-diagnosis`);
  expect(deleted).toMatchObject({ code: 200 });
  return { patient, idle, ended: new Map(), beside: [] };
}

/** The pod falls sick, its Diagnosis is applied, the agent is killed, stands up again, and cures. */
export async function expectCure(trial: RecoveryTrial, blow?: Blow): Promise<Round> {
  const { patient, ended: all } = trial;
  const { agent, node } = patient;
  const name = `round-${all.size + 1}`;
  const before = patient.unmounts;
  const { stale, tables } = patient.breakNode();
  const stop = new AbortController();
  const mounting = patient.mountsAnew(stop.signal);
  const begun = performance.now();
  const asked = agent.ask('POST', DIAGNOSES, diagnosisCalled(name));
  const struck = blow ? strike(trial, name, blow, asked) : Promise.resolve('ended' as const);
  const ending = struck.then(async () => {
    await expectStored(agent, name, await asked);
    return agent.untilEnded(`${DIAGNOSES}/${name}`);
  });
  // Whatever comes of it, the kubelet does not outlive it.
  const ended = await ending.finally(() => stop.abort());
  const tookMs = performance.now() - begun;
  const [stage, fresh] = [await struck, await mounting];

  all.set(name, ended);
  const printed = ended as unknown as PrintedDiagnosis;
  expect(ended.status?.phase, JSON.stringify(ended.status)).toBe('Succeeded');
  expectPrintedStatus(printed, stale);
  expect(printed.status.steps.map(({ outcome }) => outcome)).toEqual(
    Array.from({ length: 4 }, () => 'Succeeded'),
  );
  expectOneAction(patient, ended.metadata.uid);
  // The table may show that it is done before the umount itself reports it.
  await eventually('what the unmount reports', () =>
    expectOneUnmount(before, patient.unmounts, blow?.isWhole ?? false),
  );
  const changes = mountChanges(tables, mountTables(node.inside));
  expect(changes).toEqual([`- ${stale}`, `+ ${fresh}`]);
  expect(await patient.tryMount()).toMatch(/^version \d+\n$/);
  await expectNothingLeft(trial);
  return { tookMs, stage };
}

async function strike(
  { patient, beside }: RecoveryTrial,
  name: string,
  { comes, isWhole, againAfterMs, onStage, afterwards }: Blow,
  asked: Promise<unknown>,
): Promise<Stage> {
  const { agent } = patient;
  const stop = new AbortController();
  const writing = writeUntil(stop.signal, agent, `beside-${name}`);
  await comes(patient, asked);
  if (isWhole) await agent.killGroup();
  else await agent.end('SIGKILL');
  stop.abort();
  beside.push(...(await writing));
  const stage = await patient.stageOf(name);
  onStage?.(stage);
  if (againAfterMs !== undefined) {
    agent.begin();
    await sleep(againAfterMs);
    await agent.end('SIGKILL');
  }
  await agent.stand();
  await afterwards?.(patient);
  return stage;
}

/** Has it keep one object after another; gives the names of those that it said it has. */
async function writeUntil(
  stop: AbortSignal,
  agent: AgentOnNode,
  prefix: string,
): Promise<readonly string[]> {
  const stored: string[] = [];
  for (let index = 1; !stop.aborted; index += 1) {
    const name = `${prefix}-${index}`;
    const answer = await agent.ask('POST', '/operations', operationCalled(name));
    if (answer?.code === 201) stored.push(name);
    await sleep(WRITE_MS);
  }
  return stored;
}

/** A client with an answer finds the object there. A client without one cannot know, and asks again. */
async function expectStored(
  agent: AgentOnNode,
  name: string,
  answer: Answered | undefined,
): Promise<void> {
  if (answer) {
    expect(answer.code).toBe(201);
    const { metadata } = await agent.object(`${DIAGNOSES}/${name}`);
    expect(metadata.uid).toBe((answer.value as StoredObject).metadata.uid);
  } else {
    const again = await agent.ask('POST', DIAGNOSES, diagnosisCalled(name));
    expect([201, 409]).toContain(again?.code);
  }
}

function expectOneAction({ journal }: FaultySubpathNode, uid: string): void {
  const { records, unfinished, errors } = journal;
  expect({ unfinished, errors }).toEqual({ unfinished: [], errors: [] });
  const outcomes = records
    .filter(({ purpose, event }) => purpose?.startsWith(uid) && event === 'concluded')
    .map(({ outcome }) => outcome?.state);
  // A crash between intent and action was checked: it had no effect.
  const nothings = outcomes.slice(1).map(() => 'no-effect');
  expect(outcomes).toEqual([...nothings, 'done']);
}

function expectOneUnmount(
  before: FaultySubpathNode['unmounts'],
  after: FaultySubpathNode['unmounts'],
  isKilledToo: boolean,
): void {
  const done = after.done - before.done;
  const asked = after.asked - before.asked;
  // One that is killed may have done it without a report, or starts a second time.
  if (isKilledToo) expect(done).toBeLessThanOrEqual(1);
  else expect({ asked, done }).toEqual({ asked: 1, done: 1 });
}

/** Readers end with their parent, an unmount after its action. */
async function expectNothingLeft({ patient, idle }: RecoveryTrial): Promise<void> {
  await eventually('the end of all that was started', () => {
    const others = programsOn(patient.node).filter((each) => !idle.includes(each));
    expect(others).toEqual([expect.stringMatching(/kubediag serve /)]);
  });
}

/** All that it said it has stored is there, unchanged; and it is deleted on request. */
export async function endTrial({ patient, idle, ended, beside }: RecoveryTrial): Promise<void> {
  const { agent, node } = patient;
  const diagnoses = await agent.list(DIAGNOSES);
  expect(new Map(diagnoses.map((each) => [each.metadata.name, each]))).toEqual(ended);
  const operations = (await agent.list('/operations')).map(({ metadata }) => metadata.name);
  expect(operations).toEqual(expect.arrayContaining(beside));
  const stopped = await agent.end('SIGTERM');
  expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
  expect(programsOn(node)).toEqual(idle);
}

function diagnosisCalled(name: string): object {
  const podReference = { namespace: CORE.namespace, name: CORE.name };
  const spec = { operationSet: 'subpath-remount-op-set', nodeName: 'my-node', podReference };
  return { apiVersion: API_VERSION, kind: 'Diagnosis', metadata: { name }, spec };
}

function operationCalled(name: string): object {
  const spec = { processor: { scriptRunner: { script: 'true' }, timeoutSeconds: 1 } };
  return { apiVersion: API_VERSION, kind: 'Operation', metadata: { name }, spec };
}
