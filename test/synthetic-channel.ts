import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  type AgentChange,
  connectToAgent,
  type ExecutorHandlers,
} from '../src/pipeline/channel/connect-to-agent.ts';
import { FrameReader, frameOf } from '../src/pipeline/channel/frames.ts';
import {
  type ExecutorChange,
  listenForExecutor,
} from '../src/pipeline/channel/listen-for-executor.ts';
import { type Hello, PROTOCOL } from '../src/pipeline/channel/messages.ts';
import { largeResultsInMemory } from '../src/pipeline/diagnosis/large-results.ts';
import type { StepToRun } from '../src/pipeline/steps/step-to-run.ts';

/** Both ends of the channel, and ends that send what a test says. */

export const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';

export const HELLO: Hello = {
  type: 'hello',
  protocol: PROTOCOL,
  version: '1.2.3',
  builtIns: {
    operations: [
      ['some', { way: 'http', path: '/processor/some', scheme: 'http', timeoutSeconds: 5 }],
    ],
    operationSets: [
      [
        'some-set',
        [
          { id: 0, to: [1] },
          { id: 1, operation: 'some' },
        ],
      ],
    ],
  },
  repairs: [['/processor/someRecover', 'some-fault']],
};

export function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-channel-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'socket');
}

export async function agentAt(path: string) {
  const changes: ExecutorChange[] = [];
  const checks: unknown[] = [];
  const executor = await listenForExecutor({
    socketPath: path,
    nodeName: 'node-1',
    onExecutor: (change) => changes.push(change),
    onNodeCheck: (check) => checks.push(check),
  });
  onTestFinished(() => executor.close());
  return { ...executor, changes, checks };
}

const WORK: ExecutorHandlers = {
  runStep: async ({ name }) => ({ succeeded: true, results: { name } }),
  findPod: async ({ name }) => ({ state: 'unknown', why: name }),
  earlierActionsFor: async (purpose) => ({ isKnown: false, why: purpose }),
  settleJournal: async () => ({ isSettled: false, why: 'somebody repairs' }),
  largeResults: largeResultsInMemory(),
  readFile: async () => undefined,
};

export function executorAt(path: string, work: Partial<ExecutorHandlers> = {}) {
  const stop = new AbortController();
  const changes: AgentChange[] = [];
  const link = connectToAgent({
    socketPath: path,
    hello: async () => HELLO,
    work: { ...WORK, ...work },
    stop: stop.signal,
    onAgent: (change) => changes.push(change),
  });
  const end = async () => {
    stop.abort();
    await link.ended;
  };
  onTestFinished(end);
  return { ...link, end, changes };
}

/** An executor that sends what the test says. */
export async function rawExecutor(path: string) {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  return { socket, ...messagesOf(socket) };
}

function messagesOf(socket: Socket) {
  const reader = new FrameReader();
  const messages: { type: string; id?: number }[] = [];
  let isClosed = false;
  socket.on('data', (chunk: Buffer) => {
    for (const { message } of reader.take(chunk)) messages.push(message as { type: string });
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  return { messages, isClosed: () => isClosed };
}

/** An agent that sends what the test says. */
export async function rawAgent(path: string, work: Partial<ExecutorHandlers> = {}) {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const server = createServer(resolve);
  server.listen(path);
  onTestFinished(() => void server.close());
  const executor = executorAt(path, work);
  const socket = await promise;
  const seen = messagesOf(socket);
  await expect.poll(() => seen.messages.length).toBe(1);
  expect(seen.messages.shift()).toEqual(HELLO);
  const send = (message: unknown) => socket.write(frameOf(message));
  return { executor, socket, send, ...seen };
}

export function step(fields: Partial<StepToRun> = {}): StepToRun {
  return {
    name: 'some',
    processor: { way: 'http', path: '/processor/some', scheme: 'http', timeoutSeconds: 60 },
    diagnosis: {
      ...{ namespace: 'default', name: 'diagnosis', uid: UID, nodeName: 'node-1' },
      spec: { operationSet: 'some-set', nodeName: 'node-1', recovery: 'Approval' },
      status: { phase: 'Running', plan: 'abc', checkpoint: { pathIndex: 0, nodeIndex: 1 } },
    },
    input: { key: 'value' },
    restMs: Number.POSITIVE_INFINITY,
    purpose: 'uid/1',
    stop: new AbortController().signal,
    ...fields,
  };
}
