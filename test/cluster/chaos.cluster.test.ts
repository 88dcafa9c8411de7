import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { killIfThere } from '../../lab/process-mark.ts';
import { readJournal } from '../../src/node/repair/journal.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import type { Part } from '../../tools/cluster/part.ts';
import { randomFrom, seedGiven } from '../rig/random-moments.ts';
import { type AgentRole, deployedProcesses } from './deployed-processes.ts';
import { permitRecovery } from './installation.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';
import { makeSickPod, type SickPod } from './sick-pod.ts';

/** How often something is killed; `npm run soak` asks for more. */
const { KUBEDIAG_CHAOS_ROUNDS = '10' } = process.env;
const ROUNDS = Number(KUBEDIAG_CHAOS_ROUNDS);
const ROUND_MS = 240_000;

const NODES = [NEW_NODE, OLD_NODE];
const FAULT = 'stale-subpath-mount';
/** The agent itself reads pods, from the API server. */
const COLLECT = 'collect';
/** Writes the uid of its Diagnosis into a file of the node. */
const SCRIPT = 'note-run';
const RUNS = '/var/lib/kubediag/runs-of-scripts';
const API = 'diagnosis.kubediag.org/v1';
const SLOW = { timeout: ROUND_MS, interval: 500 };
/** What is killed comes back after a second at most, as by systemd. */
const AWAY_MS = 1_000;

const seed = seedGiven();
const random = randomFrom(seed);

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await cluster.kubectl('apply', '--server-side', '--filename=deploy/crds');
  await cluster.kubectl('wait', '--for=condition=Established', '--filename=deploy/crds');
  const manifest = await readFile('deploy/kubediag.yaml', 'utf8');
  // The policy of an installation permits fewer actions than a long run needs.
  const input = manifest
    .replace(/actionsPerHour: \d+/, 'actionsPerHour: 1000')
    .replace('scripts: Deny', 'scripts: Allow');
  const applied = await cluster.run(['kubectl', 'apply', '--server-side', '--filename=-'], {
    input,
  });
  if (applied.code !== 0) throw new Error(applied.stderr);
  await cluster.kubectl('apply', `--filename=deploy/operations/${FAULT}.yaml`);
  const collectors = [
    { id: 0, to: [1] },
    { id: 1, operation: 'pod-list-collector', to: [2] },
    { id: 2, operation: 'mount-info-collector', to: [3] },
    { id: 3, operation: SCRIPT },
  ];
  const script = `echo "$1" >> ${RUNS}; sleep 1`;
  await cluster.apply({
    ...{ apiVersion: API, kind: 'Operation', metadata: { name: SCRIPT } },
    spec: { processor: { scriptRunner: { script, argKeys: ['diagnosis.uid'] } } },
  });
  await cluster.apply({
    ...{ apiVersion: API, kind: 'OperationSet', metadata: { name: COLLECT } },
    spec: { adjacencyList: collectors },
  });
  await permitRecovery(cluster);
  const agents = ['--namespace=kubediag', 'daemonset/kubediag-agent'];
  await cluster.kubectl('rollout', 'status', ...agents, '--timeout=120s');
});

/** A process that can be killed at any moment. */
interface Victim {
  readonly name: string;
  readonly strike: () => Promise<void>;
  /** Without it the node cannot be judged or changed. */
  readonly mayPrevent?: boolean;
}

function victims(): readonly Victim[] {
  return [
    ...NODES.flatMap((node) => [
      ...(['agent', 'executor'] as const).map((role) => ({
        name: `${role} on ${node}`,
        strike: async () => endProcesses(role, node),
      })),
      { name: `agent pod on ${node}`, strike: () => deletePod(node) },
      ...(['containerd', 'kubelet'] as const).map((part) => ({
        name: `${part} on ${node}`,
        strike: () => restart(cluster.node(node).parts[part]),
        mayPrevent: true,
      })),
    ]),
    ...(['kube-apiserver', 'etcd'] as const).map((part) => ({
      name: part,
      strike: () => restart(cluster.parts[part]),
    })),
  ];
}

async function restart(part: Part): Promise<void> {
  await part.stop('SIGKILL');
  await sleep(random() * AWAY_MS);
  await part.start();
}

/** By a crash or by a request to end. The shell in the container starts it again. */
function endProcesses(role: AgentRole, node: string): void {
  const signal = random() < 1 / 2 ? 'SIGKILL' : 'SIGTERM';
  for (const pid of deployedProcesses(cluster.node(node), [role])) killIfThere(pid, signal);
}

/** As an update of the DaemonSet does it. */
async function deletePod(node: string): Promise<void> {
  const onNode = `--field-selector=spec.nodeName=${node}`;
  await cluster.kubectl('delete', 'pods', '--namespace=kubediag', onNode, '--wait=false');
}

/** Nothing of a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isStale({ mount }: SickPod): boolean {
  const table = textOf(`/proc/${cluster.node(OLD_NODE).pid}/mountinfo`).split('\n');
  return table.some((line) => line.includes(`//deleted ${mount} `));
}

interface Round {
  readonly tookMs: number;
  /** It struck before both Diagnoses had ended. */
  readonly isInTime: boolean;
  readonly outcome: string;
}

/** One node collects, and the other one repairs a pod, while something is killed. */
async function runRound(name: string, victim: Victim | undefined, afterMs: number): Promise<Round> {
  const pod = await makeSickPod(cluster, OLD_NODE, name);
  const begun = performance.now();
  const names = NODES.map((node) => `${name}-${node}`);
  await diagnose(...names);
  if (victim) await sleep(afterMs);
  const struckAt = Date.now();
  await victim?.strike();
  const [onNew, onOld] = await ended(names);
  const tookMs = performance.now() - begun;
  const shown = `${name}, ${victim?.name ?? 'nothing'} killed: ${JSON.stringify(onOld)}`;
  if (!onNew || !onOld) throw new Error(`${shown}: not found`);
  const done = actionsDone(onOld.uid, shown);
  expect(actionsDone(onNew.uid, shown, NEW_NODE)).toEqual([]);
  const isRepaired = onOld.status.phase === 'Succeeded';
  // Without the kubelet or the runtime a step may have refused to act, and then nothing has changed.
  if (!victim?.mayPrevent) {
    expect(onOld.status.phase, shown).toBe('Succeeded');
    expectScriptOnce(onNew);
  }
  expect(done.length, shown).toBe(isRepaired ? 1 : 0);
  // The kubelet ended after the unmount and before the check of it, which reads its mounts.
  const isUnverified = /it was done, but could not be verified/.test(shown);
  const isLeft = !isRepaired && !isUnverified;
  expect(isStale(pod), shown).toBe(isLeft);
  if (isLeft) await expectRepairLater(`${name}-again-${OLD_NODE}`);
  await cluster.kubectl('delete', 'pod', name, '--wait=false');
  // The times of a status are whole seconds.
  const ends = [onNew, onOld].map(({ status }) => Date.parse(status.endTime ?? '') + 1_000);
  const outcome = `${onOld.status.phase}, ${onNew.status.result}`;
  return { tookMs, isInTime: Math.max(...ends) > struckAt, outcome };
}

/** Nobody knows how far a script had come that was interrupted: it is not run again. */
function expectScriptOnce({ uid, status }: EndedDiagnosis): void {
  const shown = JSON.stringify(status);
  const runs = textOf(cluster.node(NEW_NODE).outside(RUNS)).split('\n');
  const times = runs.filter((line) => line === uid).length;
  if (status.phase === 'Succeeded') expect(times, shown).toBe(1);
  else {
    expect(times, shown).toBeLessThanOrEqual(1);
    expect(
      status.steps?.find(({ outcome }) => outcome === 'Failed'),
      shown,
    ).toMatchObject({
      operation: SCRIPT,
      message: expect.stringMatching(/interrupted when .*not run again/),
    });
  }
}

async function expectRepairLater(name: string): Promise<void> {
  await diagnose(name);
  const [again] = await ended([name]);
  expect(again?.status.phase, JSON.stringify(again)).toBe('Succeeded');
  expect(actionsDone(again?.uid ?? '', name)).toHaveLength(1);
}

async function diagnose(...names: readonly string[]): Promise<void> {
  await cluster.apply(
    ...names.map((name) => ({
      apiVersion: API,
      kind: 'Diagnosis',
      metadata: { name },
      spec: name.endsWith(OLD_NODE)
        ? { operationSet: FAULT, nodeName: OLD_NODE }
        : { operationSet: COLLECT, nodeName: NEW_NODE },
    })),
  );
}

interface EndedDiagnosis {
  readonly uid: string;
  readonly status: DiagnosisStatus;
}

interface SeenDiagnosis {
  readonly metadata: { readonly uid: string };
  readonly status?: DiagnosisStatus;
}

async function ended(names: readonly string[]): Promise<readonly EndedDiagnosis[]> {
  let found: readonly EndedDiagnosis[] = [];
  const areEnded = async () => {
    const answer = await cluster.run(['kubectl', 'get', 'diagnosis', ...names, '-o=json']);
    if (answer.code !== 0) return answer.stderr;
    const listed = JSON.parse(answer.stdout) as SeenDiagnosis | { items: readonly SeenDiagnosis[] };
    // One object comes without a list.
    const items = 'items' in listed ? listed.items : [listed];
    found = items.map(({ metadata: { uid }, status = {} }) => ({ uid, status }));
    const open = found.filter(({ status: { phase = '' } }) => !/^(Succeeded|Failed)$/.test(phase));
    return open.length === 0 ? '' : JSON.stringify(open);
  };
  await expect.poll(areEnded, SLOW).toBe('');
  return found;
}

/** What was done for a Diagnosis, by the journal of its node. Nothing twice, and nothing is open. */
function actionsDone(uid: string, shown: string, node = OLD_NODE): readonly string[] {
  const folder = cluster.node(node).outside('/var/lib/kubediag');
  const { records, unfinished, errors } = readJournal(folder);
  expect({ unfinished, errors }, shown).toEqual({ unfinished: [], errors: [] });
  const done = records
    .filter(({ purpose, outcome }) => purpose?.startsWith(uid) && outcome?.state === 'done')
    .map(({ action }) => JSON.stringify(action));
  expect(new Set(done).size, `${shown} ${done.join(' ')}`).toBe(done.length);
  return done;
}

it(`ends every Diagnosis and does nothing twice, whatever is killed, in ${ROUNDS} rounds`, {
  timeout: ROUND_MS * (ROUNDS + 1),
}, async () => {
  console.info(`KUBEDIAG_TEST_SEED=${seed} KUBEDIAG_CHAOS_ROUNDS=${ROUNDS}`);
  let lengthMs = (await runRound('undisturbed', undefined, 0)).tookMs;
  const order = victims()
    .map((victim) => ({ victim, place: random() }))
    .toSorted((left, right) => left.place - right.place);
  let inTime = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = order[round % order.length]?.victim;
    const afterMs = random() * lengthMs;
    const { tookMs, isInTime, outcome } = await runRound(`round-${round}`, victim, afterMs);
    // The first one is slow, and the load of a machine changes.
    lengthMs *= isInTime ? 1.1 : 0.6;
    if (isInTime) inTime += 1;
    const [after, took] = [Math.round(afterMs), Math.round(tookMs)];
    const what = `${victim?.name} killed after ${after} ms${isInTime ? '' : ', too late'}`;
    console.info(`round ${round}: ${what}; ended after ${took} ms: ${outcome}`);
  }
  // Else the moments were not those at which something happens.
  expect(inTime).toBeGreaterThan(ROUNDS / 4);
});
