import { symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { agentAt, executorAt, rawAgent, socketPath } from '../../../test/synthetic-channel.ts';
import { frameOf } from './frames.ts';
import { INPUT_PAIRS_MAX, REQUESTS_MAX, UIDS_MAX, UNREAD_BYTES_MAX } from './limits.ts';
import type { NodeCheck } from './node-check.ts';
import { executorRequest } from './request-schema.ts';

const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FILE = '9b74c9897bac770ffc029102a200c5de';

const REQUEST = {
  kind: 'run-step',
  name: 'some',
  processor: { way: 'http', path: '/processor/some', scheme: 'http', timeoutSeconds: 60 },
  diagnosis: { namespace: 'n', name: 'd', uid: UID, nodeName: 'node-1', spec: {}, status: {} },
  input: {},
  purpose: 'u/1',
};

const STORE = { kind: 'store-result', uid: UID, file: FILE, text: 'x' };
const withUid = (uid: string) => ({ ...REQUEST, diagnosis: { ...REQUEST.diagnosis, uid } });

test.each([
  ['an unknown kind', { kind: 'shell' }],
  ['an unknown field', { ...REQUEST, command: 'id' }],
  ['an unknown field of a processor', { ...REQUEST, processor: { ...REQUEST.processor, uid: 0 } }],
  ['an input that is no text', { ...REQUEST, input: { key: 1 } }],
  ['a time of nothing', { ...REQUEST, restMs: 0 }],
  ['no purpose', { ...REQUEST, purpose: '' }],
  ['a spec that decides more', { ...REQUEST, diagnosis: { ...REQUEST.diagnosis, spec: { x: 1 } } }],
  ['a Diagnosis that leads elsewhere', withUid('../../../etc')],
  ['a Diagnosis without a uid', withUid('')],
  ['an id that leads elsewhere', { ...STORE, uid: '../..' }],
  ['a file that leads elsewhere', { ...STORE, file: '../journal.jsonl' }],
  ['an offset before the file', { kind: 'read-file', path: 'collected/x', offset: -1 }],
  ['nothing', null],
])('the executor refuses a request with %s, and stays', async (_, request) => {
  const { send, messages } = await rawAgent(socketPath());
  send({ type: 'request', id: 1, request });
  await expect.poll(() => messages.length).toBe(1);
  expect(messages[0]).toMatchObject({ type: 'refused', id: 1, why: /^malformed request: / });
  send({ type: 'request', id: 2, request: REQUEST });
  await expect.poll(() => messages.length).toBe(2);
  expect(messages[1]).toMatchObject({ type: 'result', id: 2, value: { succeeded: true } });
  send({ type: 'ping' });
  await expect.poll(() => messages[2]).toEqual({ type: 'pong' });
});

const numbers = (count: number) => Array.from({ length: count }, () => 1);
const planning = (plannedActions: unknown) => ({
  ...REQUEST,
  diagnosis: { ...REQUEST.diagnosis, status: { plannedActions } },
});

test.each([
  ['input', { ...REQUEST, input: Object.assign({}, numbers(INPUT_PAIRS_MAX + 1)) }],
  ['uids', { kind: 'retain-results', uids: numbers(UIDS_MAX) }],
  ['diagnosis.status.plannedActions', planning(numbers(200_000))],
  ['diagnosis.status.plannedActions', planning([{ kind: 'x', details: numbers(200_000) }])],
])('the executor does not list each wrong value of %s', (field, request) => {
  const { error } = executorRequest.safeParse(request);
  expect(error?.issues).toMatchObject([
    { path: field.split('.'), message: /^not a .* of at most/ },
  ]);
});

test.each([
  ['a frame that is too long', Buffer.from('ffffffff', 'hex')],
  ['a frame that is not JSON', Buffer.from('00000001ff', 'hex')],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['an unknown message', frameOf({ type: 'exec', command: 'id' })],
  [
    'an id twice',
    Buffer.concat([1, 1].map((id) => frameOf({ type: 'request', id, request: REQUEST }))),
  ],
])('the executor closes a connection with %s, and connects again', async (_, bytes) => {
  const { socket, isClosed, executor } = await rawAgent(socketPath());
  socket.write(bytes);
  await expect.poll(isClosed).toBe(true);
  await expect
    .poll(() => executor.changes.filter(({ state }) => state === 'connected').length)
    .toBeGreaterThan(1);
});

test('the executor takes a limited number of requests at once, also over several connections', async () => {
  const path = socketPath();
  let begun = 0;
  const release = Promise.withResolvers<void>();
  const { send, messages, socket, executor } = await rawAgent(path, {
    // Something that cannot be stopped, such as a read that hangs.
    runStep: async () => {
      begun += 1;
      await release.promise;
      return { succeeded: true, results: {} };
    },
  });
  for (let id = 1; id <= REQUESTS_MAX + 1; id += 1) send({ type: 'request', id, request: REQUEST });
  await expect.poll(() => messages).toEqual([{ type: 'busy', id: REQUESTS_MAX + 1 }]);
  const server = createServer((next) => next.destroy());
  onTestFinished(() => void server.close());
  socket.destroy();
  await expect.poll(() => executor.changes.at(-1)?.state).toBe('connected');
  expect(begun).toBe(REQUESTS_MAX);
  release.resolve();
});

test('the executor does not follow a link from the place of the socket', async () => {
  const path = socketPath();
  const agent = await agentAt(`${path}-of-the-node`);
  symlinkSync(`${path}-of-the-node`, path);
  const executor = executorAt(path);
  await expect
    .poll(() => executor.changes)
    .toEqual([{ state: 'gone', why: `${path} is not a socket` }]);
  expect(agent.isConnected()).toBe(false);
});

test('the executor connects again to an agent that closes connections at once', async () => {
  const path = socketPath();
  let refused = 0;
  const server = createServer((socket) => {
    refused += 1;
    socket.destroy();
  });
  server.listen(path);
  onTestFinished(() => void server.close());
  executorAt(path);
  await expect.poll(() => refused).toBeGreaterThan(4);
});

test('an agent that does not read gets no further check, and the newest one when it reads', async () => {
  const { executor, socket, messages } = await rawAgent(socketPath());
  const ids = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(60, 'a'));
  const findings = ids.map((id) => ({ fault: 'a-fault', id, state: 'latent' }) as const);
  const checkAt = (time: string): NodeCheck => ({
    ...{ time, durationMs: 1, kubediagVersion: '1.2.3', faults: [], unknowns: [], findings },
  });
  const heldBytes = () => process.memoryUsage().arrayBuffers;
  socket.pause();
  const before = heldBytes();
  for (let at = 0; at < 1_000; at += 1) executor.publish(checkAt(`${at}`));
  expect(heldBytes() - before).toBeLessThan(4 * UNREAD_BYTES_MAX);
  socket.resume();
  const last = () => messages.at(-1) as { readonly check?: NodeCheck } | undefined;
  await expect.poll(() => last()?.check?.time).toBe('999');
  expect(messages.length).toBeLessThan(500);
});
