import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { AgentOnNode } from '../rig/agent-on-node.ts';
import { breakNode, makeNode } from '../rig/faulty-node.ts';
import { randomFrom, seedGiven } from '../rig/random-moments.ts';

const API_VERSION = 'diagnosis.kubediag.org/v1';
const DIAGNOSES = '/namespaces/default/diagnoses';
const BATCHES = 3;
const KILLS = 4;
const AT_ONCE = 4;
const FIRST_STARTS = 8;
/** Too large for a status, and not too large for an argument. */
const LARGE_BYTES = 100_000;

const seed = seedGiven();
const random = randomFrom(seed);

/** Writes its name into a file whenever it is run, so that somebody can count. */
function noting(file: string, script: string, ...argKeys: readonly string[]): object {
  const whole = `echo "$1 $0" >> ${file}; ${script}`;
  return { script: whole, argKeys: ['diagnosis.name', ...argKeys] };
}

/** The steps of a graph that changes nothing, in their order, as the agent gets them. */
function steps(file: string): Readonly<Record<string, object>> {
  const large = noting(file, `head -c ${LARGE_BYTES} /dev/zero | tr '\\0' x`);
  const length = noting(file, 'printf %s "$2" | wc -c', 'operation.large.output');
  return {
    'note-1': { scriptRunner: { ...large, operationResultKey: 'large' } },
    processes: { path: '/processor/processCollector', scheme: 'http' },
    'note-2': { scriptRunner: { ...length, operationResultKey: 'length' } },
    mounts: { path: '/processor/mountInfoCollector', scheme: 'http' },
    pods: { path: '/processor/podListCollector', scheme: 'http' },
    'note-3': { scriptRunner: { ...noting(file, 'true'), operationResultKey: 'last' } },
  };
}

async function define(agent: AgentOnNode, file: string): Promise<void> {
  const names = Object.keys(steps(file));
  const list = ['', ...names].map((operation, id) => ({
    id,
    ...(operation ? { operation } : {}),
    ...(id < names.length ? { to: [id + 1] } : {}),
  }));
  const fixture = [
    ...Object.entries(steps(file)).map(([name, processor]) =>
      agent.ask('POST', '/operations', of('Operation', name, { processor })),
    ),
    agent.ask('POST', '/operationsets', of('OperationSet', 'collect', { adjacencyList: list })),
  ];
  for (const answer of await Promise.all(fixture)) expect(answer).toMatchObject({ code: 201 });
}

function of(kind: string, name: string, spec: object): object {
  return { apiVersion: API_VERSION, kind, metadata: { name }, spec };
}

async function begin(agent: AgentOnNode, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const spec = { operationSet: 'collect', nodeName: 'my-node' };
    expect(await agent.ask('POST', DIAGNOSES, of('Diagnosis', name, spec))).toMatchObject({
      code: 201,
    });
  }
}

async function endsOf(agent: AgentOnNode, names: readonly string[]): Promise<DiagnosisStatus[]> {
  const ended = names.map((name) => agent.untilEnded(`${DIAGNOSES}/${name}`));
  return (await Promise.all(ended)).map(({ status }) => status as DiagnosisStatus);
}

const named = (prefix: string) =>
  Array.from({ length: AT_ONCE }, (_, index) => `${prefix}-${index}`);

it('killed again and again while it collects, it loses no step, and runs no script twice', async () => {
  const fixture = await makeNode();
  await breakNode(fixture);
  const { node } = fixture;
  const agent = new AgentOnNode(node, 'my-node');
  await agent.stand();
  const file = join(node.scratch, 'notes');
  await define(agent, file);
  const begun = performance.now();
  await begin(agent, named('baseline'));
  const baseline = await endsOf(agent, named('baseline'));
  const lengthMs = performance.now() - begun;
  console.info(`KUBEDIAG_TEST_SEED=${seed}; undisturbed it takes ${lengthMs} ms`);
  const keysOf = ({ operationResults = {} }: DiagnosisStatus) => Object.keys(operationResults);
  const largeOf = ({ largeResults = [] }: DiagnosisStatus) =>
    largeResults.find(({ key }) => key === 'operation.large.output');
  const [first] = baseline;
  let interrupted = 0;

  for (let batch = 0; batch < BATCHES; batch += 1) {
    const names = named(`batch-${batch}`);
    await begin(agent, names);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep((random() * lengthMs) / 2);
      await agent.end('SIGKILL');
      await agent.stand();
    }
    for (const status of await endsOf(agent, names)) {
      if (status.phase === 'Failed') {
        expect(status.steps?.find(({ outcome }) => outcome === 'Failed')).toMatchObject({
          operation: expect.stringMatching(/^note-/),
          message: expect.stringMatching(/interrupted when .*not run again/),
        });
        interrupted += 1;
        continue;
      }
      expect(status.phase).toBe('Succeeded');
      // How long the list of processes is, is the machine's own affair.
      expect(largeOf(status)).toEqual(first && largeOf(first));
      expect(keysOf(status)).toEqual(first && keysOf(first));
      expect(status.operationResults?.['operation.length.output']).toBe(`${LARGE_BYTES}\n`);
      expect(status.steps?.map(({ operation, outcome }) => [operation, outcome])).toEqual(
        Object.keys(steps(file)).map((name) => [name, 'Succeeded']),
      );
    }
  }
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  for (const name of named('baseline')) expect(notesOf(lines, name)).toEqual(['1', '2', '3']);
  for (let batch = 0; batch < BATCHES; batch += 1) {
    for (const name of named(`batch-${batch}`)) {
      const notes = notesOf(lines, name);
      expect(['1', '2', '3'].slice(0, notes.length)).toEqual(notes);
    }
  }
  console.info(`${interrupted} of ${AT_ONCE * BATCHES} Diagnoses had an interrupted script`);
  expect(await agent.end('SIGTERM')).toMatchObject({ code: 0 });
});

// "batch-1-2 note-3"
function notesOf(lines: readonly string[], name: string): readonly string[] {
  return lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(-1));
}

it('killed while it stands up for the first time, it stands up the next time', async () => {
  const { node } = await makeNode();
  const agent = new AgentOnNode(node, 'my-node');
  const begun = performance.now();
  await agent.stand();
  const lengthMs = performance.now() - begun;
  await agent.end('SIGTERM');
  for (let round = 0; round < FIRST_STARTS; round += 1) {
    rmSync(node.stateFolder, { recursive: true });
    agent.begin();
    await sleep(((round + random()) / FIRST_STARTS) * lengthMs);
    await agent.end('SIGKILL');
    const left = existsSync(node.stateFolder) ? readdirSync(node.stateFolder) : [];
    await agent.stand();
    expect(await agent.list('/operations'), left.join()).toEqual([]);
    await agent.end('SIGTERM');
  }
});
