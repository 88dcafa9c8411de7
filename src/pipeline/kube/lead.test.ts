import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SyntheticApiServer } from '../../../test/synthetic-api-server.ts';
import { lead, writingWhile } from './lead.ts';
import { Lease } from './lease.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases/leader';
const RETRY_MS = 20;
const DURATION_SECONDS = 0.3;

/** A process that may lead: it notes when it begins to work and when it ends. */
class Candidate {
  readonly stop = new AbortController();
  readonly errors: string[] = [];
  readonly running: Promise<void>;
  readonly lease: Lease;
  isWorking = false;
  begun = 0;
  /** The process does not run, or cannot reach the server. */
  isCut = false;

  constructor(api: SyntheticApiServer, name: string) {
    const client = {
      watch: () => api.watch('', {}, this.stop.signal),
      close: () => {},
      request: async (request: Parameters<SyntheticApiServer['request']>[0]) => {
        while (this.isCut) await sleep(5);
        return api.request(request);
      },
    };
    this.lease = new Lease(client, {
      namespace: 'kubediag',
      name: 'leader',
      holder: name,
      durationSeconds: DURATION_SECONDS,
    });
    this.running = lead(this.lease, {
      stop: this.stop.signal,
      retryMs: RETRY_MS,
      onError: (message) => this.errors.push(message),
      work: async (stop) => {
        this.begun += 1;
        this.isWorking = true;
        while (!stop.aborted) await sleep(5);
        this.isWorking = false;
      },
    });
  }
}

const candidates: Candidate[] = [];

function candidate(api: SyntheticApiServer, name: string): Candidate {
  const made = new Candidate(api, name);
  candidates.push(made);
  return made;
}

afterEach(async () => {
  for (const each of candidates) {
    each.isCut = false;
    each.stop.abort();
  }
  await Promise.all(candidates.splice(0).map(({ running }) => running));
});

async function two() {
  const api = new SyntheticApiServer();
  const first = candidate(api, 'first');
  await expect.poll(() => first.isWorking).toBe(true);
  const second = candidate(api, 'second');
  return { api, first, second };
}

test('only one of two processes leads, and the other one follows when it ends', async () => {
  const { api, first, second } = await two();
  await sleep(DURATION_SECONDS * 1_500);
  expect([first.isWorking, second.isWorking]).toEqual([true, false]);
  first.stop.abort();
  await first.running;
  expect(api.objects.get(LEASE)).toMatchObject({ spec: { holderIdentity: '' } });
  await expect.poll(() => second.isWorking).toBe(true);
  expect(first.begun + second.begun).toBe(2);
});

test('one that cannot renew its Lease ends its work, and another one leads', async () => {
  const { first, second } = await two();
  first.isCut = true;
  await expect.poll(() => second.isWorking).toBe(true);
  expect(first.lease.isHeld).toBe(false);
  first.isCut = false;
  await expect.poll(() => first.isWorking).toBe(false);
  await sleep(DURATION_SECONDS * 1_500);
  expect([first.isWorking, second.isWorking]).toEqual([false, true]);
});

test('a slow leader stays leader if nobody else has led', async () => {
  const api = new SyntheticApiServer();
  const only = candidate(api, 'only');
  await expect.poll(() => only.isWorking).toBe(true);
  only.isCut = true;
  await sleep(DURATION_SECONDS * 1_500);
  expect(only.lease.isHeld).toBe(false);
  only.isCut = false;
  await expect.poll(() => only.isWorking && only.lease.isHeld).toBe(true);
});

test('a server that refuses is reported, and asked again', async () => {
  const api = new SyntheticApiServer();
  api.isDown = true;
  const only = candidate(api, 'only');
  await expect.poll(() => only.errors).toContain('connection refused');
  api.isDown = false;
  await expect.poll(() => only.isWorking).toBe(true);
});

test('a process that does not lead reads, and does not write', async () => {
  const api = new SyntheticApiServer();
  api.put('/api/v1/nodes/web-1', { metadata: { name: 'web-1' } });
  let isLeading = true;
  const client = writingWhile(() => isLeading, api);
  const path = '/api/v1/nodes/web-1';
  await client.request({ method: 'DELETE', path });
  isLeading = false;
  await expect(client.request({ method: 'DELETE', path })).rejects.toMatchObject({
    reason: 'ServiceUnavailable',
  });
  await expect(client.request({ method: 'GET', path })).rejects.toMatchObject({
    reason: 'NotFound',
  });
  expect(api.writes).toEqual([`DELETE ${path}`]);
});
