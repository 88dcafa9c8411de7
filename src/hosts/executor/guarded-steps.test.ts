import { expect, test } from 'vitest';
import { step } from '../../../test/synthetic-channel.ts';
import type { Processor } from '../../pipeline/api/processor-of.ts';
import { builtIn, processors } from '../../pipeline/operations/catalogue.ts';
import type { StepInput } from '../../pipeline/steps/operation-result.ts';
import { guardedSteps } from './guarded-steps.ts';
import type { Policy } from './policy.ts';

const STRICT: Policy = {
  actions: new Set(),
  actionsPerHour: 0,
  ...{ scripts: false, profilers: false },
  servers: new Set(),
};

async function run(
  processor: Processor,
  policy: Partial<Policy> = {},
  input: StepInput = {},
  nodeName = 'node-1',
): Promise<string> {
  const runs = guardedSteps(async () => ({ succeeded: true, results: {} }), {
    policy: async () => ({ ...STRICT, ...policy }),
    nodeName,
  });
  const outcome = await runs(step({ processor, input }));
  if (!('succeeded' in outcome)) throw new Error('nobody asked for approval');
  if (outcome.succeeded) return 'run';
  expect(outcome.reason).toBe('Refused');
  return outcome.message;
}

const SCRIPT: Processor = { way: 'script', script: 'id', argKeys: [], timeoutSeconds: 5 };
const FUNCTION: Processor = {
  ...{ way: 'function', codeSource: {}, runtime: 'python3', timeoutSeconds: 5 },
};

test('scripts and functions run only with the permission of the policy', async () => {
  for (const program of [SCRIPT, FUNCTION]) {
    expect(await run(program)).toMatch(/scripts and functions: the policy .* does not permit it/);
    expect(await run(program, { problem: 'policy file x: no such file' })).toMatch(/no such file/);
    expect(await run(program, { scripts: true })).toBe('run');
  }
});

test('a server that an Operation names is never asked', async () => {
  const own = builtIn('/processor/podListCollector');
  expect(await run(own)).toBe('run');
  const everything = { scripts: true, profilers: true, servers: new Set(['http://10.0.0.1:80']) };
  for (const place of [{ address: '10.0.0.1' }, { port: 80 }, { address: '10.0.0.1', port: 80 }]) {
    const message = await run({ ...own, ...place }, everything);
    expect(message).toMatch(/an executor asks no server that an Operation names/);
  }
});

test('a built-in step asks only servers of the policy, and captures only with its permission', async () => {
  const search = builtIn('/processor/elasticsearchCollector');
  const [address, other] = ['https://logs.example:9200', 'https://other.example'];
  const input = { 'param.collector.log.elasticsearch.address': `${address}/es, ${other}` };
  const servers = new Set([address]);
  expect(await run(search, { servers }, input)).toMatch(/the server https:\/\/other.example: /);
  expect(await run(search, { servers: new Set([address, other]) }, input)).toBe('run');
  const profiler = builtIn('/processor/goProfiler?x=1');
  const source = { 'param.diagnoser.runtime.go_profiler.source': 'http://127.0.0.1:6060' };
  expect(await run(profiler, {}, source)).toMatch(/the server http:\/\/127.0.0.1:6060: /);
  // It then reports the missing input.
  expect(await run(profiler)).toBe('run');
  for (const path of ['/processor/tcpdumpProfiler', '/processor/containerdGoroutineCollector']) {
    expect(await run(builtIn(path))).toMatch(/profilers: Allow/);
    expect(await run(builtIn(path), { profilers: true })).toBe('run');
  }
});

test('without a valid policy every built-in step that only reads runs, and no repair', async () => {
  const problem = 'policy file x: no such file';
  for (const { path, repairs, needsPermission, serversIn } of processors) {
    const server = 'http://127.0.0.1:6060';
    const message = await run(
      builtIn(path),
      { problem },
      {
        'param.diagnoser.runtime.go_profiler.source': server,
        'param.collector.log.elasticsearch.address': server,
      },
    );
    const mayRun = !repairs && !needsPermission && !serversIn;
    expect({ path, message }).toEqual({ path, message: mayRun ? 'run' : expect.any(String) });
    expect(message === 'run').toBe(mayRun);
  }
});

test('a step for another node is refused', async () => {
  const own = builtIn('/processor/podListCollector');
  expect(await run(own, {}, {}, 'node-2')).toBe(
    'refused: node node-1: not this node (this is node-2)',
  );
});
