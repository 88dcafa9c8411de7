import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DiagnosisSpec } from '../../pipeline/api/diagnosis.ts';
import type { Processor } from '../../pipeline/api/processor-of.ts';
import { fileOf, largeResultsInMemory } from '../../pipeline/diagnosis/large-results.ts';
import { RESULT_SHOWN_BYTES_MAX } from '../../pipeline/diagnosis/limits.ts';
import type { StepToRun } from '../../pipeline/steps/step-to-run.ts';
import { agentSteps } from './agent-steps.ts';
import { largeAnswers } from './large-answers.ts';

const keys: unknown[] = [];
const bodies: unknown[] = [];
let answer: Readonly<Record<string, string>> = {};
async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  keys.push(request.headers['idempotency-key']);
  const body = await buffer(request);
  const isWhole = Number(request.headers['content-length']) === body.length;
  bodies.push(isWhole ? JSON.parse(body.toString()) : 'Content-Length is wrong');
  response.end(JSON.stringify({ answer: 'from the server', ...answer }));
}
const server = createServer((request, response) => void answerTo(request, response));
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

function step(
  processor: Processor,
  more: Pick<DiagnosisSpec, 'dryRun' | 'podReference' | 'recovery'> & {
    readonly restMs?: number;
  } = {},
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

const stored = largeResultsInMemory();
const run = agentSteps({
  runOnNode: async ({ processor }) => ({
    succeeded: true,
    results: { answer: `from the executor: ${processor.way}` },
  }),
  readFile: async (path) => {
    const [, uid = '', file = ''] = path.split('/');
    const text = await stored.read(uid, file);
    if (!text.ok || text.value === undefined) return undefined;
    return { bytes: Buffer.byteLength(text.value), pieces: chunksOf(Buffer.from(text.value)) };
  },
  takeAnswer: largeAnswers(stored),
});

/** So small that characters are split. */
async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

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

test.each([
  ['Never', 'Refused'],
  ['Approval', 'Refused'],
  ['Automatic', undefined],
] as const)(
  'a program of an Operation in a Diagnosis of a pod with recovery %s',
  async (recovery, reason) => {
    const podReference = { namespace: 'default', name: 'web' };
    const script: Processor = { way: 'script', script: 'true', argKeys: [], timeoutSeconds: 5 };
    for (const processor of [remote(), script]) {
      const outcome = await run(step(processor, { podReference, recovery }));
      expect('reason' in outcome ? outcome.reason : undefined).toBe(reason);
    }
    const own: Processor = { way: 'http', scheme: 'http', path: '/processor/x', timeoutSeconds: 5 };
    expect(await run(step(own, { podReference, recovery }))).toMatchObject({ succeeded: true });
    // A Diagnosis of a node: its author has rights in the whole cluster.
    expect(await run(step(script, { recovery }))).toMatchObject({ succeeded: true });
  },
);

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

test('a server gets large results of earlier steps in full', async () => {
  const large = 'é"\\\n\u2028\u{1f600}\ufeff'.repeat(1_000);
  const file = fileOf('a "key"', large);
  await stored.store('u', file, large);
  const given = {
    ...step(remote()),
    input: { 'a "key"': '(stored separately)', small: 'y' },
    largeInput: [{ key: 'a "key"', file }],
  };
  bodies.length = 0;
  expect(await run(given)).toMatchObject({ succeeded: true });
  expect(await run({ ...given, input: {} })).toMatchObject({ succeeded: true });
  expect(bodies).toEqual([{ small: 'y', 'a "key"': large }, { 'a "key"': large }]);
});

test.each([
  ['has changed', 'a'.repeat(32), /result large: a{32} has changed on disk/],
  ['is gone', 'b'.repeat(32), /result large: b{32} is gone from the disk/],
])('a large result that %s is not sent', async (_, file, message) => {
  await stored.store('u', 'a'.repeat(32), 'other');
  bodies.length = 0;
  const largeInput = [{ key: 'large', file }];
  const outcome = await run({ ...step(remote()), largeInput });
  expect(outcome).toMatchObject({ succeeded: false, message: expect.stringMatching(message) });
  expect(bodies).toEqual([]);
});

test('a large value that a server answers is stored on the node', async () => {
  answer = { large: 'x'.repeat(RESULT_SHOWN_BYTES_MAX + 1) };
  const outcome = await run(step(remote()));
  expect(outcome).toMatchObject({
    results: { answer: 'from the server' },
    largeResults: [{ key: 'large', bytes: RESULT_SHOWN_BYTES_MAX + 1 }],
  });
  const [large] = ('largeResults' in outcome && outcome.largeResults) || [];
  expect(await stored.read('u', large?.file ?? '')).toEqual({ ok: true, value: answer.large });
  answer = {};
});
