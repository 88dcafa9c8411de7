import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXECUTABLE } from '../../../../test/rig/run-kubediag.ts';
import { chain, object } from '../../../../test/synthetic-manifests.ts';

interface Diagnosis {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels: object };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly checkpoint: object;
    readonly conditions: readonly { readonly reason: string }[];
    readonly operationResults: Readonly<Record<string, string>>;
    readonly steps?: readonly { readonly operation: string; readonly outcome: string }[];
  };
}

const folder = mkdtempSync(join(tmpdir(), 'kubediag-run-'));
let server: Server;
let port = 0;
/** A service that stores every pair it receives, and answers with all of them. */
let stored: Record<string, string> = {};

beforeAll(async () => {
  server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      if (request.url === '/fails') return response.writeHead(204).end();
      stored = { ...stored, ...(JSON.parse(chunks.join('')) as Record<string, string>) };
      return response.end(JSON.stringify(stored));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const asks = (name: string, path = '/') =>
  object('Operation', name, { processor: { httpServer: { address: '127.0.0.1', port, path } } });
const runs = (name: string, script: string, rest: object = {}) =>
  object('Operation', name, { processor: { scriptRunner: { script, ...rest } } });
const graph = (...list: readonly object[]) =>
  object('OperationSet', 'set', { adjacencyList: list });
const diagnosis = (spec: object = {}, name = 'd') =>
  object('Diagnosis', name, { operationSet: 'set', nodeName: 'my-node', ...spec });

async function run(
  items: readonly object[],
  ...requests: readonly (string | { readonly stopOnceThere: string })[]
) {
  const args = requests.filter((options) => typeof options === 'string');
  const [stopping] = requests.filter((options) => typeof options !== 'string');
  const file = join(folder, 'all.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const rest = ['run', '-f', file, '--node-name', 'my-node', '-o', 'json', ...args];
  const child = spawn(EXECUTABLE, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (stopping) {
    while (!existsSync(stopping.stopOnceThere)) await sleep(20);
    child.kill('SIGINT');
  }
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.toArray(),
    once(child, 'exit') as Promise<[number]>,
  ]);
  const text = stdout.join('');
  const whole = (text === '' ? {} : JSON.parse(text)) as Diagnosis & { items?: Diagnosis[] };
  return { code, stderr: stderr.join(''), whole, status: whole.status };
}

const outcomes = ({ steps = [] }: Diagnosis['status']) =>
  steps.map(({ operation, outcome }) => `${operation} ${outcome}`);

/** Each run is a program of its own, on a machine that may be busy. */
const patient = { timeout: 30_000 };

describe('a graph of steps of others and of ours', patient, () => {
  test('the quick start of KubeDiag ends as it is documented', async () => {
    stored = { a: '100', b: '2', c: '3', d: '4', e: '5' };
    const items = [
      asks('http-operation'),
      chain('http-operation'),
      diagnosis({ parameters: { b: '200', f: '6' } }, 'http-operation'),
    ];
    const { code, whole, status } = await run(items);
    expect(code).toBe(0);
    expect(whole.metadata.labels).toEqual({ 'adjacency-list-hash': '864dcbdbfb' });
    expect(status).toMatchObject({
      phase: 'Succeeded',
      checkpoint: { pathIndex: 0, nodeIndex: 0 },
      conditions: [{ reason: 'DiagnosisAccepted' }, { reason: 'DiagnosisComplete' }],
      succeededPath: [{ id: 1, operation: 'http-operation' }],
      operationResults: {
        ...{ a: '100', b: '200', c: '3', d: '4', e: '5', f: '6', node: 'my-node' },
        'diagnosis.name': 'http-operation',
        'diagnosis.namespace': 'default',
        'diagnosis.uid': whole.metadata.uid,
      },
    });
    // And nothing else: everybody who reads the status sees all of it.
    expect(Object.keys(status.operationResults)).toHaveLength(10);
  });

  test('a server, a script and a built-in collector, each with the results before', async () => {
    stored = { greeting: 'hello' };
    const rest = { argKeys: ['greeting', 'nobody', 'who'], operationResultKey: 'said' };
    const items = [
      asks('server'),
      runs('script', 'echo "$1|$2|$3"', rest),
      chain('server', 'script', 'mount-info-collector'),
      diagnosis(),
    ];
    const { code, stderr, status } = await run(items, '--set', 'who=a=b');
    expect(code, stderr).toBe(0);
    expect(status.operationResults['operation.said.output']).toBe('hello||a=b\n');
    expect(status.operationResults['collector.system.mountinfo']).toContain(' - proc ');
    expect(stderr).toBe(
      'd  Succeeded  server\nd  Succeeded  script\nd  Succeeded  mount-info-collector\n',
    );
  });

  test('a path that fails is followed by the next, and all that failed is 3', async () => {
    const items = [
      asks('fails', '/fails'),
      runs('good', 'true'),
      runs('bad', 'echo why; exit 3', { operationResultKey: 'bad' }),
      graph(
        { to: [1, 3] },
        { operation: 'good', to: [2] },
        { operation: 'fails' },
        { operation: 'bad', to: [4] },
        { operation: 'good' },
      ),
      diagnosis(),
    ];
    const { code, stderr, status } = await run(items);
    expect(code).toBe(3);
    expect(status.phase).toBe('Failed');
    expect(status.conditions.at(-1)?.reason).toBe('AllPathsFailed');
    const expected = ['good Succeeded', 'fails Failed', 'bad Failed', 'good NotRun'];
    expect(outcomes(status)).toEqual(expected);
    expect(stderr).toContain('it answered 204, and only 200 is success');
    expect(stderr).toContain('bad: it ended with code 3');
    expect(status.operationResults).toEqual({
      'operation.bad.output': 'why\n',
      'operation.bad.error': 'exit status 3',
    });
  });

  test('several Diagnoses are one list', async () => {
    const items = [runs('good', 'true'), chain('good'), diagnosis({}, 'one'), diagnosis({}, 'two')];
    const { whole } = await run(items);
    expect(whole.items?.map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
  });
});

describe('what is not run', patient, () => {
  const file = join(folder, 'was-run');

  test('a dry run leaves alone what nobody knows', async () => {
    const items = [runs('touch', `touch ${file}`), chain('touch')];
    const reported = await run([...items, diagnosis()], '--dry-run');
    expect(outcomes(reported.status)).toEqual(['touch Failed']);
    expect(reported.stderr).toContain(
      'dry run: nobody knows what it would change, so it was not run',
    );
    const wanted = await run([...items, diagnosis({ dryRun: true })]);
    expect(outcomes(wanted.status)).toEqual(['touch Failed']);
    expect(existsSync(file)).toBe(false);
    await run([...items, diagnosis()]);
    expect(existsSync(file)).toBe(true);
  });

  test('the deadline of a Diagnosis ends a step and those that follow', async () => {
    const items = [
      runs('slow', 'sleep 60'),
      runs('next', 'true'),
      graph({ to: [1, 2] }, { operation: 'slow' }, { operation: 'next' }),
      diagnosis({ deadlineSeconds: 1 }),
    ];
    const { code, status } = await run(items);
    expect(code).toBe(3);
    expect(outcomes(status)).toEqual(['slow Failed']);
    expect(status.conditions.at(-1)?.reason).toBe('DeadlineExceeded');
  });

  test('cancelled, suspended, a function, and a step that was removed', async () => {
    const rest = [runs('good', 'true'), chain('good')];
    const cancelled = await run([...rest, diagnosis({ cancel: true })]);
    expect(cancelled.status.conditions.at(-1)?.reason).toBe('DiagnosisCancelled');
    const suspended = await run([...rest, diagnosis({ suspend: true })]);
    expect(suspended).toMatchObject({ code: 3, stderr: 'd: not run: spec.suspend is true\n' });
    const code = { codeSource: { 'function.py': '' }, runtime: 'Python3' };
    const others = await run([
      object('Operation', 'code', { processor: { function: code } }),
      object('Operation', 'ours', { processor: { path: '/processor/commandExecutor' } }),
      graph({ to: [1, 2] }, { operation: 'code' }, { operation: 'ours' }),
      diagnosis(),
    ]);
    expect(others.stderr).toContain('code: it ended with code 1');
    expect(others.stderr).toContain('there is no processor /processor/commandExecutor here');
  });

  test('a graph with a processor that is not there', async () => {
    const mistyped = { processor: { path: '/processor/podListColector' } };
    const { code, stderr } = await run([
      object('Operation', 'ours', mistyped),
      chain('ours'),
      diagnosis(),
    ]);
    expect(code).toBe(64);
    expect(stderr).toContain('did you mean "/processor/podListCollector"?');
    expect(stderr).toContain('nothing was run\n');
  });

  test('what Ctrl-C comes before, and the script that it meets is stopped', async () => {
    const begun = join(folder, 'begun');
    const slow = runs('slow', `touch ${begun}; sleep 60`);
    const items = [slow, runs('next', 'true'), chain('slow', 'next'), diagnosis()];
    const { code, status } = await run(items, { stopOnceThere: begun });
    expect(code).toBe(3);
    expect(outcomes(status)).toEqual(['slow Failed', 'next NotRun']);
    expect(status.steps?.[0]).toMatchObject({ message: 'it was stopped' });
  });

  test('manifests with problems', async () => {
    const circle = graph({ to: [1] }, { operation: 'good', to: [1] });
    const { code, stderr } = await run([runs('good', 'true'), circle, diagnosis()]);
    expect(code).toBe(64);
    expect(stderr).toContain('node 1 leads to itself');
    expect(stderr).toContain('nothing was run');
  });

  test('a Diagnosis of another node', async () => {
    const items = [runs('good', 'true'), chain('good'), diagnosis({ nodeName: 'other' })];
    const { code, stderr } = await run(items);
    expect(code).toBe(64);
    expect(stderr).toContain('it is for node other, and this is my-node');
  });
});
