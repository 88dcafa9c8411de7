import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import type { Store } from '../../src/pipeline/store/store.ts';
import { type ApiServer, startApiServer } from '../../test/rig/api-server.ts';
import { createNamespace, kubeconfigOf } from '../../test/rig/controller-here.ts';
import { EXECUTABLE, startProgram } from '../../test/rig/run-kubediag.ts';
import { SimulatedAgents } from '../../test/rig/simulated-agents.ts';
import { cpuSeconds, memoryMib } from './process-use.ts';
import { barred, type Row, shown } from './row.ts';

const AGENTS = 1_000;
const PARENTS = 5;
const DIAGNOSES = AGENTS * PARENTS;
const STEPS = ['first', 'second'];
const POLL_MS = 500;
/** Six times the bar. */
const LIMIT_MS = 600_000;
/** Until all watches have begun. */
const SETTLE_MS = 10_000;
/** Each agent renews its Lease twice. */
const IDLE_MS = 60_000;

/** Five Diagnoses of 1,000 nodes at once, with real watches, a real API server and a real controller. */
export async function fanOutRows(scratch: string): Promise<readonly Row[]> {
  const api = await startApiServer();
  const agents = new SimulatedAgents(api, AGENTS, { watchesGraphs: true });
  const kubeconfig = join(scratch, 'kubeconfig.json');
  await writeFile(kubeconfig, kubeconfigOf(api));
  const words = ['controller', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0'];
  try {
    await createNamespace(api);
    await agents.start();
    const controller = startProgram([EXECUTABLE, ...words], { limitMs: 2 * LIMIT_MS });
    try {
      await controller.hasSaid('became leader');
      const idle = await idleRows(api);
      return [...idle, ...(await measured(api, agents, controller.child.pid ?? 0))];
    } finally {
      controller.child.kill('SIGTERM');
      await controller.end;
    }
  } finally {
    await agents.stop();
    await api.stop();
  }
}

async function measured(
  api: ApiServer,
  agents: SimulatedAgents,
  controller: number,
): Promise<readonly Row[]> {
  const store = kubeStore(api.client);
  await makeGraph(store);
  const used = async () => ({
    server: await serverSeconds(api),
    controller: await cpuSeconds(controller),
    agents: process.cpuUsage(),
  });
  const before = await used();
  const begun = performance.now();
  const names = Array.from({ length: PARENTS }, (_, at) => `parent-${at}`);
  await Promise.all(names.map((name) => store.create(parent(name))));
  await allEnded(store, names);
  const seconds = (performance.now() - begun) / 1_000;
  const after = await used();
  await expectOnce(store, agents);
  if (agents.errors.length > 0) throw new Error(agents.errors.join('\n'));
  const { user, system } = process.cpuUsage(before.agents);
  const each = (processorSeconds: number) => (processorSeconds * 1_000) / DIAGNOSES;
  const name = `${DIAGNOSES} Diagnoses of ${STEPS.length} steps on ${AGENTS} simulated agents`;
  return [
    barred(`${name}: ended`, DIAGNOSES / seconds, '1/s', { atLeast: 50 }),
    shown(`${name}: API server and etcd, for each`, each(after.server - before.server), 'ms CPU'),
    shown(`${name}: controller, for each`, each(after.controller - before.controller), 'ms CPU'),
    shown(`${name}: agents and their connections, for each`, each((user + system) / 1e6), 'ms CPU'),
    shown(`${name}: memory of the controller`, await memoryMib(controller, 'VmRSS'), 'MiB'),
  ];
}

/** What the API server counts and uses while nothing happens. It and the controller send some requests too. */
async function idleRows(api: ApiServer): Promise<readonly Row[]> {
  await sleep(SETTLE_MS);
  const before = { requests: await requestsTo(api), cpu: await serverSeconds(api) };
  await sleep(IDLE_MS);
  const after = { requests: await requestsTo(api), cpu: await serverSeconds(api) };
  const seconds = IDLE_MS / 1_000;
  const perSecond = (after.requests - before.requests) / seconds;
  const millicores = ((after.cpu - before.cpu) / seconds) * 1_000;
  const name = `${AGENTS} simulated agents, idle`;
  return [
    barred(`${name}: all requests / agents`, perSecond / AGENTS, '1/s', { under: 0.1 }),
    shown(`${name}: API server and etcd`, millicores, 'millicores'),
  ];
}

async function serverSeconds({ part, etcd }: ApiServer): Promise<number> {
  return (await cpuSeconds(part.pid)) + (await cpuSeconds(etcd.pid));
}

/** All requests that the API server has answered, without watches that still run. */
async function requestsTo({ server, credentials }: ApiServer): Promise<number> {
  const call = request(`${server}/metrics`, credentials).end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  // apiserver_request_total{code="200",resource="leases",verb="PUT",...} 2000
  const counts = (await text(answer)).matchAll(/^apiserver_request_total\{.*\} (\S+)$/gm);
  return [...counts].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function makeGraph(store: Store): Promise<void> {
  const processor = { scriptRunner: { script: 'true' }, timeoutSeconds: 30 };
  for (const name of STEPS) {
    const metadata = { name };
    await store.create({
      apiVersion: API_VERSION,
      kind: 'Operation',
      metadata,
      spec: { processor },
    });
  }
  const steps = STEPS.map((operation, at) => ({
    operation,
    ...(at === STEPS.length - 1 ? {} : { to: [at + 2] }),
  }));
  await store.create({
    apiVersion: API_VERSION,
    kind: 'OperationSet',
    metadata: { name: 'chain' },
    spec: { adjacencyList: [{ to: [1] }, ...steps] },
  });
}

function parent(name: string) {
  return {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: 'default' },
    spec: { operationSet: 'chain', targetSelector: { nodeSelector: {} } },
  } as const;
}

async function allEnded(store: Store, names: readonly string[]): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  const left = new Set(names);
  while (left.size > 0) {
    for (const name of left) {
      const found = await store.get({ kind: 'Diagnosis', namespace: 'default', name });
      const status: DiagnosisStatus = found?.status ?? {};
      if (status.phase === 'Succeeded') left.delete(name);
      if (status.phase === 'Failed') throw new Error(`${name}: ${JSON.stringify(status)}`);
      if (performance.now() > deadline) throw new Error(`${name} is at ${status.progress}`);
    }
    await sleep(POLL_MS);
  }
}

async function expectOnce(store: Store, agents: SimulatedAgents): Promise<void> {
  const { objects } = await store.each('Diagnosis');
  let ended = 0;
  for await (const { spec, status } of objects) {
    if (spec.nodeName !== undefined && status?.phase === 'Succeeded') ended += 1;
  }
  const often = [...agents.runs.values()].filter((times) => times !== STEPS.length);
  if (ended !== DIAGNOSES || agents.runs.size !== DIAGNOSES || often.length > 0) {
    const counts = `${agents.runs.size} ran, ${often.length} not once for each step`;
    throw new Error(`${ended} of ${DIAGNOSES} Diagnoses succeeded, ${counts}`);
  }
}
