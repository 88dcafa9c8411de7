import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapAtOnce } from '../../src/lib/std/map-at-once.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import type { StoredObject } from '../../src/pipeline/store/store.ts';
import { type ApiServer, startApiServer } from '../../test/rig/api-server.ts';
import { ControlledCluster } from '../../test/rig/controlled-cluster.ts';
import { createNamespace, kubeconfigOf } from '../../test/rig/controller-here.ts';
import { EXECUTABLE, type Running, startProgram } from '../../test/rig/run-kubediag.ts';
import { cpuSeconds, memoryMib } from './process-use.ts';
import { barred, type Row, shown } from './row.ts';

const DIAGNOSES = 10_000;
/** Of the Diagnoses one runs on each; the others have ended. */
const NODES = 100;
const WRITES_AT_ONCE = 32;
const LEASE_SECONDS = 120;
/** 200 MB. */
const MEMORY_MIB = 190;
const LIMIT_MS = 900_000;
const SETTLE_MS = 20_000;
const WATCHED_MS = 60_000;
const POLL_MS = 100;

/** The leader of a cluster with many Diagnoses, and a real API server. */
export async function controllerRows(scratch: string): Promise<readonly Row[]> {
  const api = await startApiServer();
  const cluster = new ControlledCluster(api);
  const kubeconfig = join(scratch, 'kubeconfig.json');
  await writeFile(kubeconfig, kubeconfigOf(api));
  await createNamespace(api);
  const agents: (() => void)[] = [];
  try {
    for (let at = 0; at < NODES; at += 1) {
      await cluster.node(nodeOf(at));
      agents.push(cluster.agent(nodeOf(at), LEASE_SECONDS));
    }
    const numbers = Array.from({ length: DIAGNOSES }, (_, at) => at);
    await mapAtOnce(numbers, WRITES_AT_ONCE, (at) => makeDiagnosis(api, at));
    const begun = performance.now();
    const words = ['controller', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0'];
    const controller = startProgram([EXECUTABLE, ...words], { limitMs: LIMIT_MS });
    try {
      return await measured(controller, begun);
    } finally {
      controller.child.kill('SIGTERM');
      await controller.end;
    }
  } finally {
    for (const stop of agents) stop();
    await api.stop();
  }
}

async function measured(controller: Running, begun: number): Promise<readonly Row[]> {
  await controller.hasSaid(' on http://');
  const url = / on (http:\S+)/.exec(controller.said())?.[1] ?? '';
  const total = async (name: string) => sumOf(await metricsAt(url), name);
  while ((await total('kubediag_diagnoses')) < DIAGNOSES) await sleep(POLL_MS);
  const knownMs = performance.now() - begun;
  await sleep(SETTLE_MS);
  const pid = controller.child.pid ?? 0;
  const before = {
    cpu: await cpuSeconds(pid),
    requests: await total('kubediag_api_requests_total'),
  };
  await sleep(WATCHED_MS);
  const requests = (await total('kubediag_api_requests_total')) - before.requests;
  const seconds = WATCHED_MS / 1_000;
  const millicores = (((await cpuSeconds(pid)) - before.cpu) / seconds) * 1_000;
  const name = `controller, ${DIAGNOSES} Diagnoses on ${NODES} nodes`;
  return [
    barred(`${name}: memory of the leader`, await memoryMib(pid, 'VmRSS'), 'MiB', {
      under: MEMORY_MIB,
    }),
    shown(`${name}: memory at its peak`, await memoryMib(pid, 'VmHWM'), 'MiB'),
    shown(`${name}: all are known after`, knownMs / 1_000, 's'),
    shown(`${name}: CPU while nothing changes`, millicores, 'millicores'),
    shown(`${name}: requests while nothing changes`, requests / seconds, '1/s'),
  ];
}

function nodeOf(at: number): string {
  return `bench-${at % NODES}`;
}

/** With a status of the usual size. */
async function makeDiagnosis(api: ApiServer, at: number): Promise<StoredObject> {
  const store = kubeStore(api.client);
  const created = await store.create({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { namespace: 'default', name: `bench-${at}` },
    spec: { operationSet: 'set', nodeName: nodeOf(at), ttlSecondsAfterFinished: 86_400 },
  });
  const time = new Date().toISOString();
  const steps = Array.from({ length: 4 }, (_, nodeIndex) => ({
    ...{ pathIndex: 0, nodeIndex, operation: 'pod-collector', outcome: 'Succeeded' },
    ...{ startTime: time, endTime: time },
  }));
  const isRunning = at < NODES;
  const end = isRunning ? { phase: 'Running' } : { phase: 'Succeeded', endTime: time };
  const status = {
    ...end,
    startTime: time,
    conditions: [
      { type: 'Accepted', status: 'True', reason: 'DiagnosisAccepted', message: 'Accepted' },
      { type: 'Complete', status: 'True', reason: 'DiagnosisComplete', message: 'Completed' },
    ],
    steps,
    operationResults: { result: 'x'.repeat(2_000) },
  };
  return store.updateStatus({ ...created, status });
}

async function metricsAt(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

// kubediag_diagnoses{phase="Running"} 100
function sumOf(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
