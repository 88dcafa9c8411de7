import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { ControlledCluster } from '../rig/controlled-cluster.ts';
import { createNamespace, kubeconfigOf } from '../rig/controller-here.ts';
import { EXECUTABLE, type Running, startProgram } from '../rig/run-kubediag.ts';

/** Two processes of the executable. A silent leader is followed after its 15 s, and an attempt's 2 s. */
const FOLLOWED = { timeout: 25_000, interval: 100 };
const SOON = { timeout: 8_000, interval: 50 };

let api: ApiServer;
let cluster: ControlledCluster;
const home = mkdtempSync(join(tmpdir(), 'kubediag-lead-'));

beforeAll(async () => {
  api = await startApiServer();
  await createNamespace(api);
  cluster = new ControlledCluster(api);
  writeFileSync(join(home, 'kubeconfig.json'), kubeconfigOf(api));
});

const started: Running[] = [];

afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await api.stop();
  rmSync(home, { recursive: true, force: true });
});

class Candidate {
  readonly running: Running;
  readonly #name: string;
  #url: Promise<string> | undefined;

  constructor(name: string) {
    this.#name = name;
    const access = ['--kubeconfig', join(home, 'kubeconfig.json'), '--listen', '127.0.0.1:0'];
    const environment = { POD_NAME: name };
    this.running = startProgram([EXECUTABLE, 'controller', ...access], { environment });
    started.push(this.running);
  }

  async leads(): Promise<boolean> {
    return (await cluster.leader()).startsWith(`${this.#name}_`);
  }

  async get(path: string): Promise<{ readonly code: number; readonly text: string }> {
    this.#url ??= this.#listens();
    const response = await fetch(`${await this.#url}${path}`);
    return { code: response.status, text: await response.text() };
  }

  async #listens(): Promise<string> {
    await this.running.hasSaid(' on http://');
    return / on (http:\S+)/.exec(this.running.said())?.[1] ?? '';
  }

  async metric(name: string): Promise<number> {
    const { text } = await this.get('/metrics');
    const lines = text.split('\n').filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  async writes(): Promise<number> {
    const verbs = ['POST', 'PUT', 'PATCH', 'DELETE'];
    const counts = await Promise.all(
      verbs.map((verb) => this.metric(`kubediag_api_requests_total{verb="${verb}"}`)),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  }
}

test('one of two controllers leads: whatever becomes of it, the other one follows, and both are ready', async () => {
  const a = new Candidate('a');
  await expect.poll(() => a.leads(), SOON).toBe(true);
  const b = new Candidate('b');
  await expect.poll(async () => (await b.get('/readyz')).code, SOON).toBe(200);
  await expect.poll(() => a.metric('kubediag_leader'), SOON).toBe(1);
  expect(await b.metric('kubediag_leader')).toBe(0);
  expect(await b.writes()).toBe(0);

  // Killed: nobody releases its Lease.
  a.running.child.kill('SIGKILL');
  await expect.poll(() => b.leads(), FOLLOWED).toBe(true);
  await expect.poll(() => b.metric('kubediag_leader'), SOON).toBe(1);

  // Held for longer than its Lease: it writes nothing but one attempt at the Lease afterwards.
  const c = new Candidate('c');
  await expect.poll(async () => (await c.get('/readyz')).code, SOON).toBe(200);
  const before = await b.writes();
  b.running.child.kill('SIGSTOP');
  await expect.poll(() => c.leads(), FOLLOWED).toBe(true);
  // Something to do for a controller that still believes that it leads.
  await cluster.node('web-1');
  const spec = { podReference: { namespace: 'default', name: 'none' } };
  await cluster.diagnosis('d', spec);
  await expect.poll(() => cluster.reasonsOf('d'), SOON).toBe('Pending PodPending=True');
  b.running.child.kill('SIGCONT');
  await b.running.hasSaid('stopped leading');
  await sleep(3_000);
  // Its renewals until then, and the one that came too late.
  expect(await b.writes()).toBeLessThanOrEqual(before + 2);
  expect(await b.metric('kubediag_leader')).toBe(0);
  expect((await b.get('/readyz')).code).toBe(200);
  expect(await c.leads()).toBe(true);

  // Ended: the next one leads at once.
  c.running.child.kill('SIGTERM');
  expect((await c.running.end).code).toBe(0);
  await expect.poll(() => b.leads(), SOON).toBe(true);
  await b.running.hasSaid('became leader');
  b.running.child.kill('SIGINT');
  expect((await b.running.end).code).toBe(0);
  expect(await cluster.leader()).toBe('');
});
