import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { syntheticAgent, syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { diagnosis, object } from '../../../../test/synthetic-manifests.ts';
import { syntheticServer, TOKEN } from '../../../../test/synthetic-server.ts';
import { API_VERSION } from '../../../pipeline/api/kinds.ts';
import { apply } from './apply.ts';
import { describe } from './describe.ts';
import { type GetOptions, get } from './get.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubediag-get-'));
afterAll(() => rmSync(folder, { recursive: true }));

const script = (name: string) =>
  object('Operation', name, { processor: { scriptRunner: { script: 'true' } } });
const set = (...operations: readonly string[]) =>
  object('OperationSet', 'set', {
    adjacencyList: [
      { to: operations.map((_, at) => at + 1) },
      ...operations.map((operation) => ({ operation })),
    ],
  });

/** A user whose agent has these objects. */
async function person(...items: readonly object[]) {
  const { stateDir } = await syntheticAgent();
  const terminal = syntheticTerminal();
  const options = { stateDir, hostRoot: '/', namespace: 'default' };
  const file = join(folder, 'all.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  expect(await apply({ ...options, filename: [file] }, terminal)).toBe(0);
  terminal.said();
  const reported = async (code: Promise<number>) => ({ code: await code, ...terminal.said() });
  return {
    get: (args: readonly string[], more: Partial<GetOptions> = {}) =>
      reported(get(args, { ...options, output: 'table', ...more }, terminal)),
    describe: async (name: string) =>
      (await reported(describe(['diagnosis', name], options, terminal))).out,
  };
}

test('several kinds are shown one after another, each object with its kind', async () => {
  const me = await person(script('a'), script('b'), set('a', 'b'));
  const { code, out } = await me.get(['operations,opset']);
  expect(code).toBe(0);
  const [operations = '', sets = '', ...more] = out.split('\n\n');
  expect(operations).toMatch(
    /^NAME +AGE\noperation[.]diagnosis[.]kubediag[.]org\/a +\d+s\noperation[.]diag.*\/b +\d+s$/,
  );
  expect(sets).toMatch(/^NAME +READY +AGE\noperationset[.]diag.*\/set +true +\d+s\n$/);
  expect(more).toEqual([]);

  const names = await me.get(['all'], { output: 'name' });
  expect(names.out.match(/^\w+/gm)).toEqual(['operation', 'operation', 'operationset']);
  // Kinds of which there is none say nothing, unless there is none of any.
  expect((await me.get(['all'])).out.match(/^NAME /gm)).toHaveLength(2);
  expect((await me.get(['all'])).err).toBe('');
  const none = { code: 0, out: '', err: 'No resources found in default namespace.\n' };
  expect(await me.get(['diag,triggers'])).toEqual(none);
});

test('several kinds are one list for a program, and a name is looked for in each', async () => {
  const me = await person(script('set'), set('set'));
  const list = { apiVersion: 'v1', kind: 'List' };
  const items = [{ kind: 'Operation' }, { kind: 'OperationSet' }];
  const json = (await me.get(['operations,operationsets'], { output: 'json' })).out;
  expect(JSON.parse(json)).toMatchObject({ ...list, items });
  const yaml = (await me.get(['operations,operationsets', 'set'], { output: 'yaml' })).out;
  expect(parse(yaml)).toMatchObject({ ...list, items });
  const missing = await me.get(['triggers,operations', 'set'], { output: 'name' });
  expect(missing.code).toBe(3);
  expect(missing.err).toContain('Error from server (NotFound)');
  expect(missing.out).toBe('operation.diagnosis.kubediag.org/set\n');

  await expect(me.get(['all'], { watch: true })).rejects.toThrow('one type');
  await expect(me.get(['operations,pods'])).rejects.toThrow('resource type "pods"');
  await expect(me.get(['operations,'])).rejects.toThrow('resource type ""');
});

const UNREAD = { 'param.diagnoser.runtime.core_file_profiler.pid': '7' };

test('a Diagnosis that waits says for what', async () => {
  const me = await person(
    script('a'),
    set('a', 'missing'),
    diagnosis('suspended', { suspend: true, operationSet: 'own' }),
    diagnosis('far', { nodeName: 'elsewhere' }),
    diagnosis('early', { operationSet: 'later', parameters: UNREAD }),
  );
  const suspended = await me.describe('suspended');
  expect(suspended).toContain('Waits for:\n  - spec.suspend to be set to false\n');
  expect(suspended).toContain(
    "  - OperationSet 'own' does not exist yet: apply it within a minute\n",
  );
  expect(await me.describe('far')).toContain('  - node elsewhere: not this node (this is my-node)');
  const early = await me.describe('early');
  expect(early).toContain("Waits for:\n  - OperationSet 'later' does not exist yet");
  expect(early).not.toContain('no effect');
});

test('a Diagnosis whose step has no Operation yet says so, and one that has ended waits for nothing', async () => {
  const me = await person(script('a'), set('missing'), diagnosis('d'));
  expect(await me.describe('d')).toContain(
    "Waits for:\n  - Operation 'missing' does not exist yet: apply it within a minute\n",
  );
  const other = await person(script('a'), set('a'), diagnosis('d'));
  await expect.poll(() => other.describe('d')).toContain('Phase:        Succeeded\n');
  expect(await other.describe('d')).not.toContain('Waits for');
});

test('a Diagnosis that waits for approval, or for its turn, says so', async () => {
  const { port, store } = await syntheticServer();
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
  const options = { server: `http://127.0.0.1:${port}`, tokenFile, hostRoot: '/' };
  const described = async (name: string, status: object, more: object = {}) => {
    const spec = { operationSet: 'set', nodeName: 'my-node', recovery: 'Approval', ...more };
    const metadata = { name, namespace: 'default' };
    const fixture = await store.create({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata,
      spec,
    });
    await store.updateStatus({ ...fixture, status: { ...status } });
    const terminal = syntheticTerminal();
    await describe(['diag', name], { ...options, namespace: 'default' }, terminal);
    return terminal.said().out;
  };
  const asking = { type: 'WaitingForApproval', status: 'True', reason: 'ApprovalNeeded' };
  const plan = { phase: 'Running', plan: 'abc', conditions: [asking] };
  const asks = await described('asks', plan);
  expect(asks).toMatch(
    /^Result: +WaitingForApproval\nNext:\n {2}- kubediag approve asks -n default\n/,
  );
  expect(asks).not.toContain('Waits for');
  const approved = { ...plan, conditions: [{ ...asking, status: 'False' }] };
  const startTime = '2026-01-02T03:04:05Z';
  const status = {
    ...approved,
    currentStep: {
      operation: 'a',
      startTime,
      attempts: 2,
      nextAttemptTime: startTime,
      message: 'away',
    },
    findings: [{ fault: 'a-fault', id: '3f9a1c', state: 'active', summary: 'It is broken.' }],
    findingsNotListed: 7,
  };
  const running = await described('runs', status, { approvedPlan: 'abc' });
  expect(running).not.toContain('Waits for');
  expect(running.match(/^Phase: +Running$/gm)).toHaveLength(1);
  expect(running).toContain(`Current step: a, since ${startTime} (`);
  expect(running).toContain(`; 2 attempts failed, next at ${startTime}: away\n`);
  expect(running).toContain('  - a-fault 3f9a1c (active): It is broken.\n  and 7 more\n');
  expect(await described('queued', { phase: 'Pending' })).toContain(
    'Waits for:\n  - other Diagnoses that are running',
  );
});
