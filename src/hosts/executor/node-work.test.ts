import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentAt, executorAt, socketPath, step, UID } from '../../../test/synthetic-channel.ts';
import { storeFile } from '../../lib/state/stored-files.ts';
import { nodeWork } from './node-work.ts';
import type { Policy } from './policy.ts';

/** The work of an executor over the real channel, on a node with nothing but a Docker. */

const DUMP = `goroutine 1 [running]:\n${'main.main()\n'.repeat(200_000)}`;

async function connected() {
  const root = mkdtempSync(join(tmpdir(), 'kubediag-executor-'));
  mkdirSync(join(root, 'run'));
  const docker = createServer((_, response) => void response.end(DUMP));
  docker.listen(join(root, 'run/docker.sock'));
  await once(docker, 'listening');
  onTestFinished(() => {
    docker.close();
    rmSync(root, { recursive: true });
  });
  const state = join(root, 'state');
  const policy: Policy = {
    ...{ actions: new Set([]), actionsPerHour: 0, scripts: false, profilers: false },
    servers: new Set([]),
  };
  const path = socketPath();
  const agent = await agentAt(path);
  const work = nodeWork({
    node: { access: { hostRoot: root }, settings: {}, stateFolder: state },
    nodeName: 'node-1',
    policy: async () => policy,
    stop: new AbortController().signal,
    listener: {
      ...{ progress: () => {}, detail: () => {}, onSettled: () => {} },
      onLetGo: async () => {},
    },
  });
  executorAt(path, work);
  return { agent, state };
}

const collecting = (uid = UID) =>
  step({
    processor: {
      ...{ way: 'http', scheme: 'http', timeoutSeconds: 30 },
      path: '/processor/dockerdGoroutineCollector',
    },
    diagnosis: { ...step().diagnosis, uid },
  });

test('a file of a step is listed in its result, can be fetched, and goes with its Diagnosis', async () => {
  const { agent, state } = await connected();
  const outcome = await agent.runStep(collecting());
  if (!('succeeded' in outcome && outcome.succeeded)) throw new Error(JSON.stringify(outcome));
  const [entry] = outcome.record?.files ?? [];
  expect(entry).toEqual({
    name: 'goroutines/dockerd.txt',
    bytes: DUMP.length,
    file: expect.stringMatching(/^[\da-f]{32}$/),
    sha256: createHash('sha256').update(DUMP).digest('hex'),
  });
  const onNode = join(state, 'cluster/results', UID, entry?.file ?? '');
  expect(outcome.results).toEqual({ 'collector.runtime.dockerd.goroutine': onNode });
  expect(readFileSync(onNode, 'utf8')).toBe(DUMP);
  const path = `results/${UID}/${entry?.file}`;
  const read = await agent.readFile(path);
  expect(read?.bytes).toBe(DUMP.length);
  const pieces: Uint8Array[] = [];
  for await (const piece of read?.pieces ?? []) pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(1);
  expect(Buffer.concat(pieces).toString()).toBe(DUMP);
  await agent.largeResults.remove(UID);
  expect(await agent.readFile(path)).toBeUndefined();
  expect(existsSync(onNode)).toBe(false);
});

test('no step runs for a Diagnosis whose uid is a path', async () => {
  const { agent, state } = await connected();
  expect(await agent.runStep(collecting('../../..'))).toMatchObject({
    succeeded: false,
    message: /malformed request: diagnosis.uid/,
  });
  expect(existsSync(state)).toBe(false);
});

test('files that others collected on the node are not for an agent', async () => {
  const { agent, state } = await connected();
  const bytes = Buffer.from('secret');
  const stored = await storeFile(state, { kind: 'captures', name: 'pod.pcap', bytes });
  if (!stored.ok) throw new Error(stored.why);
  expect(await agent.readFile(stored.value.slice(state.length + 1))).toBeUndefined();
});
