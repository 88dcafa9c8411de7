import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import { LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { agentProcesses, METRICS, type NodeProcess } from './agent-processes.ts';
import { ClusterCheck } from './cluster-check.ts';
import { mountHungVolume } from './hung-volume.ts';
import { NODE } from './shared-cluster.ts';

const FAULT = 'stale-subpath-mount';
const CRDS = 'deploy/crds';
/** The kubelet takes up to two minutes to write a changed ConfigMap. */
const SLOW = { timeout: 240_000, interval: 500 };
/** Longer than two checks. */
const STEADY_MS = 15_000;
const ORPHAN = 'b2f1c7a4-91d3-4e57-8a60-3d5c2b7e9f19';

let clusterCheck: ClusterCheck;
let agent: NodeProcess;
let executor: NodeProcess;

/** One node from health to its cure: each test begins where the one before ended. */
beforeAll(async () => {
  clusterCheck = await ClusterCheck.begin(LAST_WITH_STALE_SUBPATH, FAULT);
  const { cluster } = clusterCheck;
  await cluster.kubectl('apply', '--server-side', `--filename=${CRDS}`);
  await cluster.kubectl('wait', '--for=condition=Established', `--filename=${CRDS}`);
  ({ agent, executor } = await agentProcesses(cluster, NODE));
  await agent.start();
  await executor.start();
});

afterAll(async () => {
  await executor.kill();
  await agent.kill();
  await clusterCheck.cluster.kubectl('delete', '--ignore-not-found', `--filename=${CRDS}`);
  const conditions = await nodeConditions();
  const index = conditions.findIndex((each) => textAt(each, 'type') === 'NodeFault');
  const patch = JSON.stringify([{ op: 'remove', path: `/status/conditions/${index}` }]);
  await clusterCheck.cluster.kubectl(
    ...['patch', 'node', NODE, '--subresource=status', '--type=json', `--patch=${patch}`],
  );
});

async function nodeConditions(): Promise<readonly unknown[]> {
  const text = await clusterCheck.cluster.kubectl('get', 'node', NODE, '-o=json');
  return listAt(JSON.parse(text), 'status', 'conditions') ?? [];
}

async function condition(): Promise<unknown> {
  return (await nodeConditions()).find((each) => textAt(each, 'type') === 'NodeFault');
}

async function statusOfCondition(): Promise<string | undefined> {
  return textAt(await condition(), 'status');
}

async function report(): Promise<unknown> {
  const text = await clusterCheck.cluster.kubectl('get', 'nodereport', NODE, '-o=json');
  return fieldAt(JSON.parse(text), 'status');
}

/** "Warning StaleSubpathMount Pod" of each Event of an agent, by the second of its creation. */
async function events(): Promise<readonly string[]> {
  const args = ['get', 'events.events.k8s.io', '--all-namespaces', '-o=json'];
  const items = listAt(JSON.parse(await clusterCheck.cluster.kubectl(...args)), 'items') ?? [];
  return items
    .filter((event) => textAt(event, 'reportingController') === 'kubediag.org/agent')
    .map((event) => [
      textAt(event, 'metadata', 'creationTimestamp'),
      ...[textAt(event, 'type'), textAt(event, 'reason'), textAt(event, 'regarding', 'kind')],
    ])
    .map((parts) => parts.join(' '))
    .toSorted()
    .map((text) => text.replace(/^\S+ /, ''));
}

async function metrics(): Promise<string> {
  return (await clusterCheck.cluster.run(['curl', '--silent', METRICS])).stdout;
}

it('a healthy node has the condition False and a NodeReport', async () => {
  await expect.poll(statusOfCondition, SLOW).toBe('False');
  expect(await condition()).toMatchObject({
    reason: 'NoFaultFound',
    message: expect.stringMatching(/^None of the \d+ known faults is on this node[.]$/),
  });
  await expect.poll(report, SLOW).toMatchObject({
    state: 'clear',
    counts: { findings: 0, unknowns: 0 },
    kubeletVersion: LAST_WITH_STALE_SUBPATH,
    runtimeVersion: expect.stringMatching(/^containerd:\/\/\d/),
  });
  expect(await events()).toEqual([]);
});

it('a fault appears in the condition, the NodeReport, Events and metrics', async () => {
  const { cluster } = clusterCheck;
  const configMap = (value: string) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } },
    data: { mode: value },
  });
  const volumeMounts = [{ name: 'settings', mountPath: '/mode', subPath: 'mode' }];
  await cluster.apply(configMap('1'), {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'app', image: cluster.image, volumeMounts }],
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
    },
  });
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s');
  await cluster.apply(configMap('2'));
  await expect.poll(statusOfCondition, SLOW).toBe('True');
  const message = expect.stringContaining('container "app" will not survive a restart');
  expect(await condition()).toMatchObject({ reason: 'StaleSubpathMount', message });
  await expect.poll(report, SLOW).toMatchObject({
    state: 'latent',
    counts: { findings: 1, latent: 1 },
    findings: [
      {
        fault: FAULT,
        subject: { pod: 'web', namespace: cluster.namespace, container: 'app' },
        proof: expect.arrayContaining([
          expect.objectContaining({ text: expect.stringContaining('//deleted') }),
        ]),
      },
    ],
  });
  await expect
    .poll(events, SLOW)
    .toEqual(['Warning StaleSubpathMount Node', 'Warning StaleSubpathMount Pod']);
  expect(await metrics()).toContain(`kubediag_node_findings{fault="${FAULT}",state="latent"} 1\n`);
  const described = await cluster.kubectl('describe', 'node', NODE);
  expect(described).toMatch(/NodeFault +True .* StaleSubpathMount +\S.*will not survive a restart/);
  expect(described).toMatch(/Warning +StaleSubpathMount +\S+ +kubediag.org\/agent /);
  expect(await cluster.kubectl('describe', 'pod', 'web')).toMatch(/Warning +StaleSubpathMount /);
  expect(await cluster.kubectl('get', 'nodereports')).toMatch(
    new RegExp(`^${NODE} +latent +1 +0 +${LAST_WITH_STALE_SUBPATH} +\\S+$`, 'm'),
  );
});

it('the fault gets worse when the container cannot restart', async () => {
  await clusterCheck.killContainer('web');
  const state = async () => textAt(await report(), 'state');
  await expect.poll(state, SLOW).toBe('active');
  expect(await condition()).toMatchObject({
    message: expect.stringContaining('cannot start container "app"'),
  });
});

it('agent and executor that are killed change nothing', async () => {
  await expect.poll(events, SLOW).toHaveLength(4);
  const before = [await condition(), await events()];
  const steady = [
    expect.objectContaining({
      status: 'True',
      lastTransitionTime: textAt(before[0], 'lastTransitionTime'),
    }),
    before[1],
  ];
  for (const process of [executor, agent]) {
    await process.kill();
    expect([await condition(), await events()]).toEqual(steady);
    await process.start();
    await sleep(STEADY_MS);
    expect([await condition(), await events()]).toEqual(steady);
  }
  // The agent that was started has taken over what the one before had found.
  await expect.poll(metrics, SLOW).toContain(`{fault="${FAULT}",state="active"} 1\n`);
});

it('a cure is published when the API server is back', async () => {
  const { 'kube-apiserver': apiServer } = clusterCheck.cluster.parts;
  apiServer.pause();
  try {
    const ended = await clusterCheck.recover(...clusterCheck.credential);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await expect.poll(metrics, SLOW).toContain(`{fault="${FAULT}",state="active"} 0\n`);
  } finally {
    apiServer.resume();
  }
  await expect.poll(statusOfCondition, SLOW).toBe('False');
  await expect.poll(report, SLOW).toMatchObject({ state: 'clear', findings: [] });
  await expect.poll(events, SLOW).toHaveLength(6);
  expect((await events()).slice(4)).toEqual([
    ...['Normal StaleSubpathMountCleared Node', 'Normal StaleSubpathMountCleared Pod'],
  ]);
});

it('a blocked sync loop is found, long before the kubelet reports it', async () => {
  const volume = await mountHungVolume(
    ...([clusterCheck.cluster, ORPHAN, 'kubernetes.io~cephfs/data'] as const),
  );
  try {
    await expect.poll(statusOfCondition, SLOW).toBe('True');
    expect(await condition()).toMatchObject({ reason: 'DeadVolumeMount' });
  } finally {
    await volume.stop();
    await clusterCheck.cluster.run(['umount', '--lazy', volume.target]);
  }
  await expect.poll(statusOfCondition, SLOW).toBe('False');
});
