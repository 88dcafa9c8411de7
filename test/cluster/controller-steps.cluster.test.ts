import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { install } from './installation.ts';
import { MIXED, NEW_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** The built-in steps that need rights at the API server, on a cluster with its own StatefulSet controller. */

const API = 'diagnosis.kubediag.org/v1';
const SOON = { timeout: 90_000, interval: 300 };
const RIGHTS = '--filename=deploy/controller-steps.yaml';

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await install(cluster);
  await cluster.kubectl('rollout', 'status', 'deployment/kubediag-controller', '-n=kubediag');
  await cluster.apply(
    chain('cordon', ['node-cordon']),
    chain('unblock', ['pod-detail-collector', 'statefulset-detail-collector', 'statefulset-stuck']),
  );
});

afterAll(async () => {
  await cluster.kubectl('uncordon', NEW_NODE);
  await cluster.kubectl('delete', '--ignore-not-found', RIGHTS);
});

function chain(name: string, operations: readonly string[]): object {
  const steps = operations.map((operation, at) => ({
    ...{ id: at + 1, operation },
    ...(at + 1 < operations.length ? { to: [at + 2] } : {}),
  }));
  const spec = { adjacencyList: [{ id: 0, to: [1] }, ...steps] };
  return { apiVersion: API, kind: 'OperationSet', metadata: { name }, spec };
}

async function diagnose(name: string, spec: object): Promise<void> {
  await cluster.apply({ apiVersion: API, kind: 'Diagnosis', metadata: { name }, spec });
}

async function statusOf(name: string): Promise<DiagnosisStatus> {
  const text = await cluster.kubectl('get', 'diagnosis', name, '--output=json');
  return (JSON.parse(text) as { readonly status?: DiagnosisStatus }).status ?? {};
}

const unschedulable = () =>
  cluster.kubectl('get', 'node', NEW_NODE, '--output=jsonpath={.spec.unschedulable}');

it('are off until a person grants the rights, and say how', async () => {
  await diagnose('not-permitted', { operationSet: 'cordon', nodeName: NEW_NODE });
  await expect
    .poll(() => statusOf('not-permitted'), SOON)
    .toMatchObject({
      phase: 'Failed',
      steps: [
        { message: expect.stringContaining('kubectl apply -f deploy/controller-steps.yaml') },
      ],
    });
  expect(await unschedulable()).toBe('');
});

it('cordon a node after the approval of the plan', async () => {
  await cluster.kubectl('apply', RIGHTS);
  const recovery = 'Approval';
  await diagnose('cordon', { operationSet: 'cordon', nodeName: NEW_NODE, recovery });
  await expect.poll(() => statusOf('cordon'), SOON).toMatchObject({ result: 'WaitingForApproval' });
  const { plan, plannedActions } = await statusOf('cordon');
  expect(plannedActions).toMatchObject([{ description: `cordon node ${NEW_NODE}`, plan }]);
  expect(await unschedulable()).toBe('');
  const patch = JSON.stringify({ spec: { approvedPlan: plan } });
  await cluster.kubectl('patch', 'diagnosis', 'cordon', '--type=merge', `--patch=${patch}`);
  await expect.poll(() => statusOf('cordon'), SOON).toMatchObject({ result: 'Repaired' });
  expect(await statusOf('cordon')).toMatchObject({
    phase: 'Succeeded',
    actions: [{ kind: 'cordon', state: 'done' }],
    conditions: expect.arrayContaining([
      expect.objectContaining({ type: 'WaitingForController', status: 'False' }),
    ]),
  });
  expect(await unschedulable()).toBe('true');
  await cluster.kubectl('uncordon', NEW_NODE);
});

const IMAGE = '--output=jsonpath={.spec.containers[0].image} {.status.phase}';

it('delete the pod that blocks the rollout of its StatefulSet', async () => {
  const labels = { app: 'stuck' };
  const containers = (image: string) => [
    { name: 'web', image, imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] },
  ];
  const statefulSet = (image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'stuck' },
    spec: {
      ...{ serviceName: 'stuck', replicas: 1, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: containers(image) } },
    },
  });
  await cluster.apply(statefulSet('kubediag.test/absent:1'));
  const reason = '--output=jsonpath={.status.containerStatuses[0].state.waiting.reason}';
  await cluster.kubectl('wait', '--for=create', 'pod/stuck-0', '--timeout=60s');
  const waiting = () => cluster.kubectl('get', 'pod', 'stuck-0', reason);
  await expect.poll(waiting, SOON).toMatch(/^(ErrImagePull|ImagePullBackOff)$/);
  await cluster.apply(statefulSet(cluster.image));
  const seen = '--output=jsonpath={.metadata.generation} {.status.observedGeneration}';
  await expect.poll(() => cluster.kubectl('get', 'statefulset', 'stuck', seen), SOON).toBe('2 2');
  // The controller of StatefulSets would have replaced it by now.
  await sleep(3_000);
  expect(await cluster.kubectl('get', 'pod', 'stuck-0', IMAGE)).toMatch(/^kubediag.test\/absent:1/);
  const namespace = await cluster.kubectl(
    ...['get', 'pod', 'stuck-0', '--output=jsonpath={.metadata.namespace}'],
  );
  const podReference = { namespace, name: 'stuck-0' };
  await diagnose('unblock', { operationSet: 'unblock', podReference });
  await expect.poll(() => statusOf('unblock'), SOON).toMatchObject({ endTime: expect.anything() });
  expect(await statusOf('unblock')).toMatchObject({
    phase: 'Succeeded',
    result: 'Repaired',
    actions: [{ kind: 'delete-pod', state: 'done' }],
  });
  await expect
    .poll(() => cluster.kubectl('get', 'pod', 'stuck-0', '--ignore-not-found', IMAGE), SOON)
    .toBe(`${cluster.image} Running`);
});
