import { readFileSync } from 'node:fs';
import { mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { killIfThere } from '../../lab/process-mark.ts';
import { listAt, textAt } from '../../src/lib/std/json.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import type { NodeReportStatus } from '../../src/pipeline/api/node-report.ts';
import { deployedProcesses } from './deployed-processes.ts';
import { fetchedDigest } from './fetched-digest.ts';
import { mountHungVolume } from './hung-volume.ts';
import { install } from './installation.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';
import {
  crash,
  killContainer,
  makeSickPod,
  makeSubpathPod,
  removeSubpathSource,
  untilWaiting,
} from './sick-pod.ts';
import { makeUnloggedContainer } from './unlogged-container.ts';
import { entries, setUpWorkingFolder } from './working-folder.ts';

/** The kubelet collects containers once a minute. */
const SLOW = { timeout: 120_000, interval: 500 };
/** Of orphaned pods. */
const POD_UID = '3c9d1f60-7b7e-4f0c-a1de-52c8f4e6b036';
const LEFT_UID = '3c9d1f60-7b7e-4f0c-a1de-52c8f4e6b037';
/** What is younger could be a teardown under way. */
const HOUR_AGO = new Date(Date.now() - 3_600_000);

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  // Those of earlier installations.
  await cluster.kubectl('delete', 'events', '--all', '--all-namespaces');
  await install(cluster);
});

/** A fault that was made on a node, with what the check and the repair of it publish. */
interface MadeFault {
  readonly fault: string;
  readonly nodeName: string;
  /** In Events and in the condition. */
  readonly reason: string;
  /** The kind of the only action. */
  readonly action: string;
  /** Absent: the finding belongs to no pod that exists. */
  readonly pod?: string;
  /** The repair shows another fault, which has to be repaired next. */
  readonly showsAnother?: boolean;
}

/** The standing check publishes it, on its node alone. */
async function expectFound({ fault, nodeName, reason, pod }: MadeFault): Promise<void> {
  const other = nodeName === NEW_NODE ? OLD_NODE : NEW_NODE;
  const before = await eventsOf('Node', other);
  const active = expect.objectContaining({ fault, state: 'active' });
  await expect
    .poll(() => reportOf(nodeName), SLOW)
    .toMatchObject({ state: 'active', findings: expect.arrayContaining([active]) });
  await expect
    .poll(() => conditionOf(nodeName), SLOW)
    .toMatchObject({ status: 'True', reason, message: expect.stringMatching(/\S/) });
  await expect.poll(() => eventsOf('Node', nodeName), SLOW).toContain(`Warning ${reason}`);
  if (pod) await expect.poll(() => eventsOf('Pod', pod), SLOW).toContain(`Warning ${reason}`);
  expect(await conditionOf(other)).toMatchObject({ status: 'False', reason: 'NoFaultFound' });
  expect(await reportOf(other)).toMatchObject({ state: 'clear', findings: [] });
  expect(await eventsOf('Node', other)).toEqual(before);
}

/** A Diagnosis repairs it by one action, and then the standing check publishes that it is gone. */
async function expectRepaired(made: MadeFault): Promise<void> {
  const { fault, nodeName, reason, action, pod, showsAnother = false } = made;
  const status = await diagnose(nodeName, fault);
  expect(status, JSON.stringify(status)).toMatchObject({
    ...{ phase: 'Succeeded', result: 'Repaired' },
    findings: [{ fault, state: 'active' }],
    actions: [{ kind: action, state: 'done' }],
    files: [{ name: expect.stringMatching(/^bundles[/].*[.]tgz$/) }],
  });
  for (const { message, sha256 } of status.files ?? []) {
    expect(await fetchedDigest(cluster, message)).toBe(sha256);
  }
  if (!showsAnother) await expectClear(nodeName);
  const cleared = `Normal ${reason}Cleared`;
  await expect.poll(() => eventsOf('Node', nodeName), SLOW).toContain(cleared);
  if (pod) await expect.poll(() => eventsOf('Pod', pod), SLOW).toContain(cleared);
}

async function expectClear(nodeName: string): Promise<void> {
  await expect.poll(() => reportOf(nodeName), SLOW).toMatchObject({ state: 'clear', findings: [] });
  await expect
    .poll(() => conditionOf(nodeName), SLOW)
    .toMatchObject({ status: 'False', reason: 'NoFaultFound' });
}

async function conditionOf(nodeName: string): Promise<unknown> {
  const text = await cluster.kubectl('get', 'node', nodeName, '-o=json');
  const conditions = listAt(JSON.parse(text), 'status', 'conditions') ?? [];
  return conditions.find((each) => textAt(each, 'type') === 'NodeFault');
}

/** Nothing before the first check. */
async function reportOf(nodeName: string): Promise<NodeReportStatus | undefined> {
  const text = await cluster.kubectl('get', 'nodereports', '-o=json');
  const { items } = JSON.parse(text) as { readonly items: readonly NodeReport[] };
  return items.find(({ metadata }) => metadata.name === nodeName)?.status;
}

interface NodeReport {
  readonly metadata: { readonly name: string };
  readonly status?: NodeReportStatus;
}

/** "Warning StaleSubpathMount" of each Event of an agent about this object. */
async function eventsOf(kind: 'Node' | 'Pod', name: string): Promise<readonly string[]> {
  const args = ['get', 'events.events.k8s.io', '--all-namespaces', '-o=json'];
  const items = listAt(JSON.parse(await cluster.kubectl(...args)), 'items') ?? [];
  return items
    .filter((event) => textAt(event, 'reportingController') === 'kubediag.org/agent')
    .filter((event) => textAt(event, 'regarding', 'kind') === kind)
    .filter((event) => textAt(event, 'regarding', 'name') === name)
    .map((event) => `${textAt(event, 'type')} ${textAt(event, 'reason')}`);
}

/** A Diagnosis of a node, by a built-in OperationSet; gives its status when it has ended. */
async function diagnose(
  nodeName: string,
  operationSet: string,
  name = `${nodeName}-${operationSet}`,
): Promise<DiagnosisStatus> {
  await cluster.apply({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Diagnosis',
    metadata: { name },
    spec: { operationSet, nodeName, deadlineSeconds: 300 },
  });
  const hasEnded = '--for=jsonpath={.status.result}';
  await cluster.kubectl('wait', `diagnosis/${name}`, hasEnded, '--timeout=150s');
  const text = await cluster.kubectl('get', `diagnosis/${name}`, '-o=json');
  return (JSON.parse(text) as { status: DiagnosisStatus }).status;
}

it('both nodes are clear at first', async () => {
  for (const nodeName of [NEW_NODE, OLD_NODE]) await expectClear(nodeName);
});

it('a container without a log path is found and removed', async () => {
  const node = cluster.node(NEW_NODE);
  await setUpWorkingFolder({ cluster: node });
  const here = { image: cluster.image, pid: node.pid };
  await makeUnloggedContainer(here, { name: 'plain', command: ['true'] });
  const made: MadeFault = {
    ...{ fault: 'container-without-log-path', nodeName: NEW_NODE },
    ...{ reason: 'ContainerWithoutLogPath', action: 'remove-container' },
  };
  // It is active once the kubelet has deleted the first entry of its working directory.
  await expectFound(made);
  expect(entries({ cluster: node })).toEqual(['boot', 'etc']);
  await expectRepaired(made);
});

/** The condition of a Diagnosis that waits, or has waited, until its node may be repaired. */
async function waitOf(name: string): Promise<unknown> {
  const text = await cluster.kubectl('get', 'diagnosis', '--ignore-not-found', name, '-o=json');
  const conditions = listAt(text ? JSON.parse(text) : {}, 'status', 'conditions') ?? [];
  return conditions.find((each) => textAt(each, 'type') === 'WaitingForRecovery');
}

async function setPaused(paused: boolean): Promise<void> {
  const patch = JSON.stringify({ spec: { paused } });
  await cluster.kubectl('patch', 'recoverypolicy', 'default', '--type=merge', `--patch=${patch}`);
}

/** The nodes that hold a Lease for recovery. */
async function nodesInRecovery(): Promise<readonly string[]> {
  const selector = '--selector=diagnosis.kubediag.org/recovery-slot';
  const holders = '-o=jsonpath={.items[*].spec.holderIdentity}';
  const text = await cluster.kubectl('get', 'leases', '--namespace=kubediag', selector, holders);
  return text.split(' ').filter((name) => name !== '');
}

it('leftover directories are found, and removed once the policy is not paused any more', async () => {
  const node = cluster.node(OLD_NODE);
  const volumes = join(node.kubeletRoot, 'pods', LEFT_UID, 'volumes/transwarp.io~tosdisk');
  for (const name of ['pvc-1.deleting~859156558', 'pvc-1.deleting~096627888']) {
    const folder = node.outside(join(volumes, name));
    await mkdir(folder, { recursive: true });
    await utimes(folder, HOUR_AGO, HOUR_AGO);
  }
  const made: MadeFault = {
    ...{ fault: 'leftover-volume-directory', nodeName: OLD_NODE },
    ...{ reason: 'LeftoverVolumeDirectory', action: 'remove-empty-directory' },
  };
  await expectFound(made);
  await setPaused(true);
  const name = `${OLD_NODE}-${made.fault}`;
  const repaired = expectRepaired(made);
  await expect
    .poll(() => waitOf(name), SLOW)
    .toMatchObject({
      ...{ status: 'True', reason: 'RecoveryPaused' },
      message: expect.stringContaining('set its spec.paused to false'),
    });
  expect(await nodesInRecovery()).toEqual([]);
  await setPaused(false);
  await repaired;
  expect(await waitOf(name)).toMatchObject({
    ...{ status: 'False', reason: 'RecoveryBegun' },
    message: expect.stringMatching(/^The node holds Lease kubediag-recovery-\d /),
  });
  expect(await nodesInRecovery()).toEqual([]);
});

it('the mount of a deleted subPath source is found and unmounted', async () => {
  await makeSickPod(cluster, OLD_NODE, 'web');
  const made: MadeFault = {
    ...{ fault: 'stale-subpath-mount', nodeName: OLD_NODE, pod: 'web' },
    ...{ reason: 'StaleSubpathMount', action: 'unmount' },
  };
  await expectFound(made);
  await expectRepaired(made);
});

it('a stale subPath mount is unmounted too while the kubelet waits before it tries to restart the container', async () => {
  await makeSubpathPod(cluster, OLD_NODE, 'crashing');
  // The next time the kubelet waits for 20 seconds.
  await crash(cluster, 'crashing', 2);
  await removeSubpathSource(cluster, OLD_NODE, 'crashing');
  await killContainer(cluster, 'crashing');
  await untilWaiting(cluster, 'crashing');
  const { result, findings = [] } = await diagnose(OLD_NODE, 'stale-subpath-mount', 'crashing');
  expect({ result, findings }).toMatchObject({
    result: 'Repaired',
    findings: [{ state: 'active', reason: 'ContainerCannotStart', subject: { pod: 'crashing' } }],
  });
  const claims = findings.flatMap(({ proof = [] }) => proof.map(({ claim }) => claim));
  expect(claims).toContainEqual(expect.stringContaining('waits before it restarts it'));
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/crashing', '--timeout=120s');
  await cluster.kubectl('delete', 'pod', 'crashing');
  await expectClear(OLD_NODE);
});

it('a stale subPath mount is unmounted before it does harm by the command of the condition, in the executor container', async () => {
  await makeSubpathPod(cluster, OLD_NODE, 'running');
  await removeSubpathSource(cluster, OLD_NODE, 'running');
  const shown = () => conditionOf(OLD_NODE).then((condition) => textAt(condition, 'message') ?? '');
  await expect.poll(shown, SLOW).toMatch(/ runs, but .* What to do: run kubediag recover /);
  const command = /run (?<command>kubediag recover .*) in the executor container/.exec(
    await shown(),
  );
  const words = command?.groups?.command?.split(' ') ?? [];
  // A controller may run there too.
  const agentOn = [
    '--selector=app.kubernetes.io/name=kubediag-agent',
    `--field-selector=spec.nodeName=${OLD_NODE}`,
  ];
  const pod = await cluster.kubectl('get', 'pods', '--namespace=kubediag', ...agentOn, '-o=name');
  const inExecutor = ['--namespace=kubediag', pod.trim(), '--container=executor', '--'];
  const printed = await cluster.kubectl('exec', ...inExecutor, ...words, '--yes');
  expect(printed).toContain('1 repaired, 0 refused, 0 failed');
  await expectClear(OLD_NODE);
  await cluster.kubectl('delete', 'pod', 'running');
});

describe.each([
  [NEW_NODE, 'kubernetes.io~csi/data/mount', true],
  [OLD_NODE, 'kubernetes.io~cephfs/data', false],
])('a dead mount on %s, at %s', (nodeName, place, hasMetadata) => {
  it('blocks the kubelet, and is found and repaired, also after agent and executor were killed', async () => {
    const node = cluster.node(nodeName);
    const volume = await mountHungVolume(node, POD_UID, place);
    const made: MadeFault = {
      ...{ fault: 'dead-volume-mount', nodeName },
      ...{ reason: 'DeadVolumeMount', action: 'force-unmount', showsAnother: hasMetadata },
    };
    await expectFound(made);
    const ours = deployedProcesses(node);
    expect(ours).toHaveLength(2);
    for (const pid of ours) killIfThere(pid);
    // The kubelet restarts nothing now; process 1 of each container does.
    await expect
      .poll(() => deployedProcesses(node).filter((pid) => !ours.includes(pid)), SLOW)
      .toHaveLength(2);
    await expectRepaired(made);
    const table = readFileSync(`/proc/${node.parts.kubelet.pid}/mountinfo`, 'utf8');
    expect(table).not.toContain(` ${volume.target} `);
    if (!hasMetadata) return;
    // The kubelet cannot remove the file that it wrote beside the mount.
    const left: MadeFault = {
      ...{ fault: 'orphaned-volume-metadata', nodeName },
      ...{ reason: 'OrphanedVolumeMetadata', action: 'set-aside' },
    };
    await expectFound(left);
    // The kubelet's list of pods is not available, but the unmount saw that the pod is gone.
    await expectRepaired(left);
  });
});

it('the container with the subPath volume runs again', async () => {
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=120s');
});
