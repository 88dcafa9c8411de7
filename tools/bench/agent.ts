import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteStore } from '../../src/pipeline/store/sqlite-store.ts';
import { makeMemoryCgroup } from '../../test/rig/memory-cgroup.ts';
import {
  type Ended,
  EXECUTABLE,
  type Running,
  runProgram,
  startProgram,
} from '../../test/rig/run-kubediag.ts';
import { barred, notRun, type Row, shown } from './row.ts';

const MIB = 1024 * 1024;
const LIMIT_MIB = 80;
const ANONYMOUS_MIB = 48;
const IDLE_MILLICORES = 10;
const SETTLE_MS = 5_000;
const WATCHED_MS = 15_000;
const STORED = 10_000;
const START_MS = 1_000;
const GET_MS = 1_000;
const ROUNDS = 5;

/** What the agent that stands on a node costs when nothing happens, and how soon it is there. */
export async function agentRows(): Promise<readonly Row[]> {
  return [...(await idleRows()), ...(await fullStoreRows())];
}

async function inScratch<T>(use: (state: string) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-bench-'));
  try {
    return await use(join(scratch, 'state'));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function serve(state: string, enter: readonly string[] = []): Running {
  const args = ['serve', '--listen', '127.0.0.1:0', '--state-dir', state, '--node-name', 'bench'];
  return startProgram([...enter, EXECUTABLE, ...args]);
}

async function ended({ child, end }: Running): Promise<void> {
  child.kill('SIGTERM');
  await end;
}

async function idleRows(): Promise<readonly Row[]> {
  const name = `kubediag-bench-${process.pid}`;
  const cgroup = makeMemoryCgroup(name, LIMIT_MIB * MIB);
  if (!cgroup)
    return [notRun('serve, idle', 'it needs a memory cgroup of its own; run it as root')];
  try {
    return await inScratch(async (state) => {
      const running = serve(state, cgroup.enter);
      await running.hasSaid('token file');
      await sleep(SETTLE_MS);
      const before = { cpuMs: cpuMs(running), ...cgroup.strain() };
      await sleep(WATCHED_MS);
      const after = { cpuMs: cpuMs(running), ...cgroup.strain() };
      const anonymous = cgroup.anonymousBytes() / MIB;
      const resident = statusBytes(running, 'VmRSS') / MIB;
      await ended(running);
      const millicores = ((after.cpuMs - before.cpuMs) / WATCHED_MS) * 1_000;
      const title = `serve, idle in a cgroup of ${LIMIT_MIB} MiB`;
      return [
        barred(`${title}, anonymous memory`, anonymous, 'MiB', { under: ANONYMOUS_MIB }),
        shown(`${title}, resident`, resident, 'MiB'),
        barred(`${title}, CPU`, millicores, 'millicores', { under: IDLE_MILLICORES }),
        // A process that is short of memory is not killed: it reads its own program again and again.
        barred(`${title}, failed to get memory`, after.failures - before.failures, 'times', {
          atMost: 0,
        }),
        barred(`${title}, pages read again`, after.refaults - before.refaults, 'pages', {
          atMost: 0,
        }),
      ];
    });
  } finally {
    await cgroup.remove();
  }
}

/** Of the process and all its threads, in user and system mode; a tick has 10 ms. */
function cpuMs({ child }: Running): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}

function statusBytes({ child }: Running, name: 'VmRSS' | 'RssAnon'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  // VmRSS:	   49152 kB
  const line = status.split('\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.replace(/\D/g, '')) * 1024;
}

async function fullStoreRows(): Promise<readonly Row[]> {
  return inScratch(async (state) => {
    await fill(state);
    const begun = performance.now();
    const running = serve(state);
    await running.hasSaid('token file');
    const startMs = performance.now() - begun;
    const get = [EXECUTABLE, 'get', 'diagnoses', '--state-dir', state, '-A'];
    const table = await fastest(get);
    const json = await fastest([...get, '-o', 'json']);
    const anonymous = statusBytes(running, 'RssAnon') / MIB;
    await ended(running);
    const rows = table.stdout.split('\n').length - 2;
    if (rows !== STORED) throw new Error(`get shows ${rows} of ${STORED}: ${table.stderr}`);
    const title = `${STORED.toLocaleString('en')} Diagnoses`;
    return [
      barred(`${title}, start of serve`, startMs, 'ms', { under: START_MS }),
      barred(`${title}, get of all`, table.tookMs, 'ms', { under: GET_MS }),
      barred(`${title}, get of all as JSON`, json.tookMs, 'ms', { under: GET_MS }),
      barred(`${title}, anonymous memory of serve afterwards`, anonymous, 'MiB', {
        under: ANONYMOUS_MIB,
      }),
    ];
  });
}

/** What other work on this machine adds to one is not in all of them. */
async function fastest(args: readonly string[]): Promise<Ended> {
  const rounds: Ended[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await runProgram(args));
  const [least] = rounds.toSorted((left, right) => left.tookMs - right.tookMs);
  if (!least) throw new Error('nothing was run');
  return least;
}

/** Diagnoses as they are when they have ended, in a hundred namespaces. */
async function fill(state: string): Promise<void> {
  const store = await openSqliteStore(join(state, 'store.sqlite'));
  const time = new Date().toISOString();
  const created = Array.from({ length: STORED }, async (_, index) => {
    const object = await store.create({
      apiVersion: 'diagnosis.kubediag.org/v1',
      kind: 'Diagnosis',
      metadata: { name: `diagnosis-${index}`, namespace: `n-${index % 100}` },
      spec: { operationSet: 'set', nodeName: 'bench', parameters: { index: String(index) } },
    });
    const status = {
      phase: 'Succeeded',
      observedGeneration: object.metadata.generation,
      startTime: time,
      endTime: time,
      checkpoint: { pathIndex: 0, nodeIndex: 1 },
      conditions: ['Accepted', 'Complete'].map((type) => ({
        type,
        status: 'True',
        reason: `Diagnosis${type}`,
        lastTransitionTime: time,
      })),
      succeededPath: [
        { id: 1, operation: 'pod-detail-collector', to: [2] },
        { id: 2, operation: 'mount-info-collector' },
      ],
      operationResults: { 'operation.a.output': 'x'.repeat(500) },
    };
    await store.updateStatus({ ...object, status });
  });
  await Promise.all(created);
  store.close();
}
