import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Processor } from '../../pipeline/api/processor-of.ts';
import type { StepToRun } from '../../pipeline/steps/step-to-run.ts';
import { agentSteps } from './agent-steps.ts';

const keys: unknown[] = [];
const server = createServer(({ headers }, response) => {
  keys.push(headers['idempotency-key']);
  response.end('{"answer":"from the server"}');
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

function step(
  processor: Processor,
  more: { readonly dryRun?: true; readonly restMs?: number } = {},
) {
  const { restMs = Number.POSITIVE_INFINITY, ...spec } = more;
  const diagnosis = { namespace: 'default', name: 'web', uid: 'u', nodeName: 'n', status: {} };
  return {
    name: 'some',
    processor,
    diagnosis: { ...diagnosis, spec: { operationSet: 'some', ...spec } },
    input: {},
    restMs,
    purpose: 'u/1/default/web',
    stop: new AbortController().signal,
  } as StepToRun;
}

const remote = (): Processor => ({
  way: 'http',
  scheme: 'http',
  address: '127.0.0.1',
  port,
  path: '/',
  timeoutSeconds: 5,
  retries: 0,
});

const run = agentSteps(async ({ processor }) => ({
  succeeded: true,
  results: { answer: `from the executor: ${processor.way}` },
}));

test('asks servers that an Operation names, and gives the rest to the executor', async () => {
  expect(await run(step(remote()))).toEqual({
    succeeded: true,
    results: { answer: 'from the server' },
  });
  const own: Processor = { way: 'http', scheme: 'http', path: '/processor/x', timeoutSeconds: 5 };
  const script: Processor = { way: 'script', script: 'true', argKeys: [], timeoutSeconds: 5 };
  for (const processor of [own, script]) {
    const results = { answer: `from the executor: ${processor.way}` };
    expect(await run(step(processor))).toEqual({ succeeded: true, results });
  }
});

test('an agent that was restarted sends a step with the same key, and another step with another', async () => {
  keys.length = 0;
  const first = step(remote());
  for (const each of [first, first, { ...first, purpose: 'u/2/default/web' }]) await run(each);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test('a dry run asks no server, and a deadline that has passed ends the request', async () => {
  expect(await run(step(remote(), { dryRun: true }))).toMatchObject({
    succeeded: false,
    reason: 'Refused',
  });
  const hanging = createServer(() => {});
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const late = { ...remote(), port: (hanging.address() as AddressInfo).port };
  expect(await run(step(late, { restMs: 50 }))).toMatchObject({ succeeded: false });
  hanging.closeAllConnections();
  hanging.close();
});
