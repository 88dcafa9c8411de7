import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import {
  agentAt,
  executorAt,
  HELLO,
  rawExecutor,
  socketPath,
  step,
} from '../../../test/synthetic-channel.ts';
import { checkOf, finding } from '../../../test/synthetic-node-check.ts';
import { largeResultsInMemory } from '../diagnosis/large-results.ts';
import type { StepToRun } from '../steps/step-to-run.ts';
import { frameOf } from './frames.ts';
import { ABSENT_MS, FRAME_BYTES_MAX, REQUESTS_MAX, SENDS_MAX } from './limits.ts';
import { PROTOCOL } from './messages.ts';
import { OpenRequests } from './open-requests.ts';
import { remoteExecutor } from './remote-executor.ts';

const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FILE = '9b74c9897bac770ffc029102a200c5de';

test('every request reaches the executor, and its answer the agent', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const steps: StepToRun[] = [];
  const content = Buffer.alloc(2_500_000, 'content');
  const stored = largeResultsInMemory();
  const executor = executorAt(path, {
    largeResults: stored,
    runStep: async (each) => {
      steps.push(each);
      return { succeeded: true, results: { name: each.name } };
    },
    readFile: async (name, offset) =>
      name === 'collected/x'
        ? { bytes: content.length, chunk: content.subarray(offset, offset + 1_000_000) }
        : undefined,
  });
  const result = await agent.runStep(step());
  expect(result).toEqual({ succeeded: true, results: { name: 'some' } });
  expect(steps[0]).toMatchObject({
    ...{ purpose: 'uid/1', restMs: Number.POSITIVE_INFINITY, input: { key: 'value' } },
    diagnosis: {
      spec: { recovery: 'Approval' },
      status: { plan: 'abc', checkpoint: { pathIndex: 0, nodeIndex: 1 } },
    },
  });
  const largeInput = [{ key: 'large', file: FILE }];
  await agent.runStep(step({ restMs: 12_345, largeInput }));
  expect(steps[1]).toMatchObject({ restMs: 12_345, largeInput });
  const { signal } = new AbortController();
  const pod = { namespace: 'default', name: 'web-1' };
  expect(await agent.findPod(pod, 1_000, signal)).toEqual({ state: 'unknown', why: 'web-1' });
  expect(await agent.earlierActionsFor('uid/1')).toEqual({ isKnown: false, why: 'uid/1' });
  expect(await agent.settleJournal()).toEqual({ isSettled: false, why: 'somebody repairs' });
  expect([...(await agent.repairs())]).toEqual(HELLO.repairs);
  const { largeResults } = agent;
  expect(await largeResults.store(UID, FILE, 'text')).toEqual({ ok: true, value: undefined });
  expect(await stored.read(UID, FILE)).toEqual({ ok: true, value: 'text' });
  await largeResults.retain(new Set([UID]));
  await largeResults.remove(UID);
  expect(await stored.read(UID, FILE)).toEqual({ ok: true, value: undefined });
  expect(await agent.readFile('journal.jsonl')).toBeUndefined();
  const file = await agent.readFile('collected/x');
  expect(file?.bytes).toBe(content.length);
  const pieces: Uint8Array[] = [];
  for await (const piece of file?.pieces ?? []) pieces.push(piece);
  expect(Buffer.concat(pieces)).toEqual(content);
  const builtIns = await agent.builtIns();
  expect([...builtIns.operations]).toEqual(HELLO.builtIns.operations);
  expect([...builtIns.operationSets]).toEqual(HELLO.builtIns.operationSets);
  executor.publish(checkOf());
  await expect.poll(() => agent.checks).toEqual([checkOf()]);
  expect(agent.changes).toEqual([{ state: 'connected', version: '1.2.3' }]);
});

test('a request that was sent before the executor came, or before it was lost, is answered by the next', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const early = agent.runStep(step());
  const first = await rawExecutor(path);
  first.socket.write(frameOf(HELLO));
  await expect.poll(() => first.messages).toMatchObject([{ type: 'request' }]);
  const [sent] = first.messages;
  // A second executor waits until the first is gone.
  const other = await rawExecutor(path);
  await expect.poll(other.isClosed).toBe(true);
  // Half a frame, and the line is cut.
  first.socket.write(frameOf({ type: 'result', id: sent?.id, value: 'half' }).subarray(0, 20));
  first.socket.end();
  await expect.poll(() => agent.changes.length).toBe(2);
  expect(agent.changes[1]).toMatchObject({ state: 'gone' });
  const second = executorAt(path);
  expect(await early).toEqual({ succeeded: true, results: { name: 'some' } });
  await second.end();
  const late = await agent.runStep(step({ restMs: 50 }));
  expect(late).toMatchObject({
    succeeded: false,
    message: /^the executor on node node-1 does not answer: /,
  });
});

test('a step during which the executor always ends is not sent for ever, and lists what it had done', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const asked = agent.runStep(step({ purpose: 'uid/7' }));
  for (let times = 0; times < SENDS_MAX; times += 1) {
    const raw = await rawExecutor(path);
    raw.socket.write(frameOf(HELLO));
    await expect.poll(() => raw.messages.length).toBe(1);
    raw.socket.destroy();
    await expect.poll(agent.isConnected).toBe(false);
  }
  const action = {
    ...{ kind: 'unmount', fault: 'a-fault', finding: '3f9a1c', description: 'unmount /a' },
    ...{ state: 'done', endTime: '2026-01-02T03:04:05Z' },
  };
  const record = { actions: [action] };
  const purposes: string[] = [];
  executorAt(path, {
    earlierActionsFor: async (purpose) => {
      purposes.push(purpose);
      return { isKnown: true, record };
    },
  });
  const message = expect.stringMatching(/ended 5 times during it: the other end has closed/);
  expect(await asked).toEqual({ succeeded: false, message, record });
  expect(purposes).toEqual(['uid/7']);
});

test('a step whose executor does not come back says that it may have acted', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const stop = new AbortController();
  const unanswered: string[] = [];
  const named = (name: string) => ({ name, onUnanswered: () => unanswered.push(name) });
  const asked = agent.runStep(step({ restMs: 1_000, ...named('late') }));
  const stopped = agent.runStep(step({ stop: stop.signal, ...named('stopped') }));
  const raw = await rawExecutor(path);
  raw.socket.write(frameOf(HELLO));
  await expect.poll(() => raw.messages.length).toBe(2);
  raw.socket.destroy();
  await expect.poll(agent.isConnected).toBe(false);
  stop.abort();
  const todo = 'if it is a step that acts, it may have done so: run "kubediag journal" on the node';
  expect(await stopped).toEqual({ succeeded: false, message: `stopped; ${todo}` });
  expect(await asked).toMatchObject({ message: /does not answer: .*; if it is a step that acts/ });
  expect(unanswered).toEqual(['stopped', 'late']);
  let isSent = true;
  const onNotSent = () => {
    isSent = false;
  };
  const neverSent = await agent.runStep(step({ restMs: 1, ...named('never sent'), onNotSent }));
  expect(neverSent).toMatchObject({ message: /does not answer/ });
  expect(isSent).toBe(false);
  executorAt(path);
  await agent.runStep(step(named('answered')));
  expect(unanswered).toHaveLength(2);
});

test('a step that is sent again ends at its deadline, although the next executor has time left', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const asked = agent.runStep(step({ restMs: 2_000 }));
  const first = await rawExecutor(path);
  first.socket.write(frameOf(HELLO));
  await expect.poll(() => first.messages.length).toBe(1);
  await sleep(1_000);
  first.socket.destroy();
  await expect.poll(agent.isConnected).toBe(false);
  executorAt(path, {
    // Ends by the cancel of the agent: its own limit is later.
    runStep: async ({ stop, restMs }) => {
      expect(restMs).toBe(2_000);
      const end = await sleep(10_000, 'late', { signal: stop }).catch(() => 'cancelled');
      return { succeeded: false, message: end };
    },
  });
  expect(await asked).toMatchObject({ succeeded: false, message: 'cancelled' });
});

test('a connection that was lost before its hello does not end a request that runs later', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const asked = agent.runStep(step({ processor: { ...step().processor, timeoutSeconds: 6 } }));
  const early = await rawExecutor(path);
  early.socket.write(frameOf({ type: 'pong' }));
  await expect.poll(early.isClosed).toBe(true);
  executorAt(path, {
    runStep: async ({ stop }) => {
      await sleep(7_000, undefined, { signal: stop });
      return { succeeded: true, results: {} };
    },
  });
  expect(await asked).toEqual({ succeeded: true, results: {} });
});

test.each([
  ['something else first', { type: 'pong' }],
  ['another protocol', { ...HELLO, protocol: PROTOCOL + 1 }],
  ['a malformed hello', { ...HELLO, builtIns: 7 }],
  ['a hello without pairs', { ...HELLO, builtIns: { operations: [1], operationSets: [] } }],
  ['null', null],
])('an executor that says %s is not used', async (_, first) => {
  const path = socketPath();
  const agent = await agentAt(path);
  const raw = await rawExecutor(path);
  raw.socket.write(frameOf(first));
  await expect.poll(raw.isClosed).toBe(true);
  expect(agent.isConnected()).toBe(false);
  expect(agent.changes.some(({ state }) => state === 'connected')).toBe(false);
});

test('a cancelled step ends with what the executor says; a step that waits in the queue ends at once', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const begun: string[] = [];
  executorAt(path, {
    runStep: async ({ purpose, stop }) => {
      begun.push(purpose);
      await new Promise((resolve) => stop.addEventListener('abort', resolve));
      return { succeeded: false, message: `ended by ${(stop.reason as Error).message}` };
    },
  });
  const stops = Array.from({ length: REQUESTS_MAX + 1 }, () => new AbortController());
  const steps = stops.map(({ signal }, at) =>
    agent.runStep(step({ purpose: `uid/${at}`, stop: signal })),
  );
  await expect.poll(() => begun.length).toBe(REQUESTS_MAX);
  stops.at(-1)?.abort();
  expect(await steps.at(-1)).toEqual({ succeeded: false, message: 'stopped' });
  stops[0]?.abort();
  expect(await steps[0]).toEqual({ succeeded: false, message: 'ended by cancelled' });
  for (const stop of stops) stop.abort();
  await Promise.all(steps);
  expect(begun).toHaveLength(REQUESTS_MAX);
});

test('many requests at once are all answered, each with its own answer', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  let [running, most] = [0, 0];
  executorAt(path, {
    runStep: async ({ purpose }) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(Math.random() * 20);
      running -= 1;
      return { succeeded: true, results: { purpose } };
    },
  });
  const purposes = Array.from({ length: 500 }, (_, at) => `uid/${at}`);
  const results = await Promise.all(purposes.map((purpose) => agent.runStep(step({ purpose }))));
  expect(results).toEqual(purposes.map((purpose) => ({ succeeded: true, results: { purpose } })));
  expect(most).toBeLessThanOrEqual(REQUESTS_MAX);
});

test('what does not fit into a message is refused, in both directions, and the rest goes on', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const huge = 'x'.repeat(FRAME_BYTES_MAX);
  executorAt(path, {
    runStep: async ({ name }) => ({
      succeeded: true,
      results: { key: name === 'huge' ? huge : 'small' },
    }),
  });
  const refused = { succeeded: false, reason: 'Refused', message: /exceeds the limit/ };
  expect(await agent.runStep(step({ input: { huge } }))).toMatchObject(refused);
  expect(await agent.runStep(step({ name: 'huge' }))).toMatchObject(refused);
  expect(await agent.runStep(step())).toEqual({ succeeded: true, results: { key: 'small' } });
  expect(agent.changes).toHaveLength(1);
});

test('large answers and large requests at once do not wait for each other', async () => {
  const path = socketPath();
  const agent = await agentAt(path);
  const large = { succeeded: true, results: { key: 'y'.repeat(12_000_000) } } as const;
  executorAt(path, { runStep: async () => large });
  const stored = agent.largeResults.store(UID, FILE, 'x'.repeat(12_000_000));
  expect(await agent.runStep(step())).toEqual(large);
  expect(await stored).toMatchObject({ ok: true });
  await agent.largeResults.remove(UID);
  expect(agent.changes).toHaveLength(1);
});

test('an agent that restarts gets the last check, and what it had requested is stopped', async () => {
  const path = socketPath();
  const first = await agentAt(path);
  const ended: string[] = [];
  const executor = executorAt(path, {
    runStep: async ({ purpose, stop }) => {
      await new Promise((resolve) => stop.addEventListener('abort', resolve));
      ended.push(purpose);
      return { succeeded: false, message: 'stopped' };
    },
  });
  const asked = first.runStep(step({ restMs: 1_000 }));
  executor.publish(checkOf(finding()));
  await expect.poll(() => first.checks.length).toBe(1);
  await first.close();
  await expect.poll(() => ended).toEqual(['uid/1']);
  expect(await asked).toMatchObject({ message: /does not answer: the agent is shutting down/ });
  const second = await agentAt(path);
  await expect.poll(() => second.checks).toEqual([checkOf(finding())]);
});

test('results are removed when an executor comes, however late it is', () => {
  vi.useFakeTimers();
  try {
    const requests = new OpenRequests('web-3');
    const { largeResults } = remoteExecutor(requests, {
      builtIns: () => expect.fail('nobody asks'),
      repairs: () => expect.fail('nobody asks'),
    });
    void largeResults.retain(new Set([UID]));
    void largeResults.remove(UID);
    void largeResults.store(UID, FILE, 'text');
    vi.advanceTimersByTime(100 * ABSENT_MS);
    const sent: unknown[] = [];
    // Four bytes of length, then the message.
    requests.connected((frame) => sent.push(JSON.parse(frame.subarray(4).toString())));
    expect(sent).toMatchObject([
      { request: { kind: 'retain-results', uids: [UID] } },
      { request: { kind: 'remove-results', uid: UID } },
    ]);
  } finally {
    vi.useRealTimers();
  }
});
