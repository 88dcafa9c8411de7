import { afterAll, beforeAll, expect, it } from 'vitest';
import { killIfThere } from '../../lab/process-mark.ts';
import { LEASE_RENEW_MS } from '../../src/hosts/agent/limits.ts';
import { childName } from '../../src/hosts/controller/fan-out/child-diagnosis.ts';
import { PARENT_NAME_LABEL } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import { type SeenDiagnosis, shownOf } from './chaos/diagnoses.ts';
import { subpathFault } from './chaos/expect-repaired.ts';
import { actionsOn } from './chaos/journals.ts';
import { deployedProcesses } from './deployed-processes.ts';
import { killNode, startNode } from './fleet/dead-node.ts';
import {
  applyGraph,
  GRAPH,
  holdScript,
  marksOn,
  releaseScript,
  STEPS,
} from './fleet/fleet-graph.ts';
import { type SimulatedFleet, startSimulatedFleet } from './fleet/simulated-fleet.ts';
import { installChanged, setRecoveryPolicy, withExecutorPolicy } from './install-changed.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';
import { makeSickPod } from './sick-pod.ts';

/** One Diagnosis of 1,000 simulated nodes and two real ones, of which some die in the middle. */

const SIMULATED = 1_000;
const TOTAL = SIMULATED + 2;
const PARENT = 'fleet';

/** Simulated nodes that die in the middle of a step: for good, with their Node object, or for a while. */
const DEAD = 'sim-0200';
const REMOVED = 'sim-0100';
const BACK_SOON = ['sim-0300', 'sim-0301', 'sim-0302'];
const BACK_LATE = ['sim-0303', 'sim-0304', 'sim-0307'];
const DYING = [DEAD, REMOVED, ...BACK_SOON, ...BACK_LATE];
/** What has no agent for longer than its Lease is valid. */
const LOST = [OLD_NODE, DEAD, ...BACK_LATE];

const SOON = { timeout: 120_000, interval: 500 };
/**
 * A Lease of an agent is valid for two minutes. The leading controller may die with the real node: the
 * next one leads after 15 s, and measures from then on. The rest is for a busy machine.
 */
const LEASE_MS = 120_000;
const LATE_MS = 60_000;
const IN_TIME = { timeout: LEASE_MS + LATE_MS, interval: 2_000 };
const END = { timeout: 240_000, interval: 2_000 };
const TEST_MS = 600_000;

let cluster: SharedCluster;
let fleet: SimulatedFleet;
let isMountStale: () => boolean;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  fleet = startSimulatedFleet(cluster, SIMULATED);
  await installChanged(cluster, (object) => withExecutorPolicy(object, { scripts: 'Allow' }));
  // The real node waits for a repair when it dies.
  await setRecoveryPolicy(cluster, { maxConcurrentNodes: 1, paused: true });
  await applyGraph(cluster);
  isMountStale = subpathFault(cluster, await makeSickPod(cluster, OLD_NODE, 'sick')).isThere;
  await holdScript(cluster, NEW_NODE);
  await fleet.ask({ what: 'hold', operation: STEPS.diagnose, names: DYING });
  await fleet.ask({ what: 'start' });
}, TEST_MS);
afterAll(() => fleet.stop());

async function diagnosis(name: string): Promise<SeenDiagnosis> {
  const text = await cluster.kubectl('get', 'diagnosis', name, '--output=json');
  return JSON.parse(text) as SeenDiagnosis;
}

async function nameOn(nodeName: string): Promise<string> {
  const { metadata } = await diagnosis(PARENT);
  return childName(metadata, nodeName);
}

const diagnosisOn = async (nodeName: string) => diagnosis(await nameOn(nodeName));

/** "AgentLost=True", "WaitingForRecovery=False" */
function conditionsOf({ status }: SeenDiagnosis): readonly string[] {
  return (status?.conditions ?? []).map(({ type, status: is }) => `${type}=${is}`);
}

async function conditionsOn(nodeName: string): Promise<readonly string[]> {
  return conditionsOf(await diagnosisOn(nodeName));
}

async function patch(kind: string, name: string, spec: object): Promise<void> {
  await cluster.kubectl('patch', kind, name, '--type=merge', `--patch=${JSON.stringify({ spec })}`);
}

/** The row of the parent, as people see it. */
function rowOf(...columns: readonly string[]): RegExp {
  return new RegExp(`^${[PARENT, GRAPH, ...columns].join(' +')} `, 'm');
}

it('begins on all nodes, and shows the progress', async () => {
  await cluster.apply({
    ...{ apiVersion: API_VERSION, kind: 'Diagnosis', metadata: { name: PARENT } },
    spec: { operationSet: GRAPH, targetSelector: { nodeSelector: {} }, deadlineSeconds: 1_800 },
  });
  const held = DYING.map((name) => `${name} ${STEPS.diagnose}`);
  const begun = async () => Object.keys((await fleet.runs()).begun);
  await expect.poll(begun, SOON).toEqual(expect.arrayContaining(held));
  await expect.poll(() => conditionsOn(OLD_NODE), SOON).toContain('WaitingForRecovery=True');
  await expect.poll(() => marksOn(cluster, NEW_NODE), SOON).toHaveLength(1);
  expect(isMountStale()).toBe(true);
  const shown = await cluster.kubectl('get', 'diagnosis', PARENT);
  expect(shown).toMatch(rowOf('Running', `\\d{1,3}/${TOTAL}`));
});

it('marks nodes that die in the middle as lost, in time', { timeout: TEST_MS }, async () => {
  // On one real node agent and executor are killed once. The other one dies.
  for (const pid of deployedProcesses(cluster.node(NEW_NODE))) killIfThere(pid);
  await Promise.all([killNode(cluster, OLD_NODE), fleet.ask({ what: 'lose', names: DYING })]);
  await cluster.kubectl('delete', 'node', REMOVED);
  await fleet.ask({ what: 'release', names: [...BACK_SOON, ...BACK_LATE] });
  await fleet.ask({ what: 'start', names: BACK_SOON });
  for (const name of LOST) {
    await expect.poll(() => conditionsOn(name), IN_TIME).toContain('AgentLost=True');
    await expectInTime(name);
  }
  // All others have ended, and those that may come back have not.
  const counts = { running: LOST.length, waiting: 0, created: TOTAL };
  await expect
    .poll(async () => (await diagnosis(PARENT)).status, SOON)
    .toMatchObject({
      phase: 'Running',
      progress: `${TOTAL - LOST.length}/${TOTAL}`,
      nodes: counts,
    });
});

/** Only an agent is lost whose Lease has expired, and it is not lost much later. */
async function expectInTime(nodeName: string): Promise<void> {
  const seen = await diagnosisOn(nodeName);
  const marked = seen.status?.conditions?.find(({ type }) => type === 'AgentLost');
  const output = '--output=jsonpath={.spec.renewTime}';
  const renewed = await cluster.kubectl('get', 'lease', nodeName, '--namespace=kubediag', output);
  const silentMs = Date.parse(marked?.lastTransitionTime ?? '') - Date.parse(renewed);
  // A condition has full seconds.
  expect(silentMs, shownOf(seen)).toBeGreaterThan(LEASE_MS - 1_000);
  expect(silentMs, shownOf(seen)).toBeLessThan(LEASE_RENEW_MS + LEASE_MS + LATE_MS);
}

it('resumes on nodes that come back, and does nothing twice', { timeout: TEST_MS }, async () => {
  await patch('recoverypolicy', 'default', { paused: false });
  await patch('diagnosis', await nameOn(DEAD), { cancel: true });
  await startNode(cluster, OLD_NODE);
  await fleet.ask({ what: 'start', names: BACK_LATE });
  await expect.poll(async () => (await diagnosis(PARENT)).status?.endTime, END).toBeDefined();
  const repaired = await diagnosisOn(OLD_NODE);
  const { uid } = repaired.metadata;
  const shown = shownOf(repaired);
  expect(repaired.status, shown).toMatchObject({ phase: 'Succeeded', result: 'Repaired' });
  expect(conditionsOf(repaired), shown).toContain('AgentLost=False');
  expect(actionsOn(cluster, OLD_NODE, shown).of(uid), shown).toHaveLength(1);
  expect(isMountStale()).toBe(false);
  expect(marksOn(cluster, OLD_NODE)).toEqual([`begin ${uid}`, `end ${uid}`]);
});

it('does not run the script again that was interrupted', async () => {
  const interrupted = await diagnosisOn(NEW_NODE);
  const message = expect.stringMatching(/interrupted when .*not run again/);
  const [step] = interrupted.status?.steps ?? [];
  expect(step, shownOf(interrupted)).toMatchObject({ operation: STEPS.begin, message });
  expect(marksOn(cluster, NEW_NODE)).toEqual([`begin ${interrupted.metadata.uid}`]);
  await releaseScript(cluster, NEW_NODE);
});

it('runs the steps of simulated nodes once, and again only what had not ended', async () => {
  const { begun, ended, errors } = await fleet.runs();
  const notOnce = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).filter(([, times]) => times !== 1));
  expect(notOnce(ended), errors.join('\n')).toEqual({});
  const again = [...BACK_SOON, ...BACK_LATE].map((name) => [`${name} ${STEPS.diagnose}`, 2]);
  expect(notOnce(begun), errors.join('\n')).toEqual(Object.fromEntries(again));
  const first = Object.keys(ended).filter((step) => step.endsWith(` ${STEPS.begin}`));
  expect(first).toHaveLength(SIMULATED);
});

it('ends with right counts', async () => {
  const selector = `--selector=${PARENT_NAME_LABEL}=${PARENT}`;
  const list = await cluster.kubectl('get', 'diagnoses', selector, '--output=json');
  const { items } = JSON.parse(list) as { readonly items: readonly SeenDiagnosis[] };
  const simulated = Array.from(
    { length: SIMULATED },
    (_, at) => `sim-${String(at).padStart(4, '0')}`,
  );
  const nodeNames = items.map(({ spec }) => spec.nodeName ?? '');
  expect(nodeNames.toSorted()).toEqual([NEW_NODE, OLD_NODE, ...simulated]);
  const results = { NothingFound: 898, Completed: 100, Repaired: 1, Error: 2, Cancelled: 1 };
  expect(countsOf(items.map(({ status }) => status?.result ?? ''))).toEqual(results);
  const isLost = (each: SeenDiagnosis) => conditionsOf(each).includes('AgentLost=True');
  const lost = items.filter(isLost).map(({ spec }) => spec.nodeName ?? '');
  expect(lost.toSorted()).toEqual([REMOVED, DEAD]);
  const { status } = await diagnosis(PARENT);
  expect(status).toMatchObject({ phase: 'Failed', result: 'Cancelled' });
  expect(status?.nodes).toEqual({
    ...{ total: TOTAL, created: TOTAL, waiting: 0, running: 0 },
    ...{ succeeded: TOTAL - 3, failed: 3, results },
  });
  expect(status?.failedNodes).toMatchObject([
    { name: NEW_NODE, message: expect.stringContaining('not run again') },
    { name: REMOVED, message: expect.stringContaining('does not exist') },
    { name: DEAD, message: expect.stringContaining('cancel') },
  ]);
  const shown = await cluster.kubectl('get', 'diagnoses');
  expect(shown).toMatch(rowOf('Failed', 'Cancelled', `${TOTAL}/${TOTAL}`));
});

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
