import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import {
  attempt,
  configWith,
  diagnosisStatus,
  event,
  IN_OURS,
  lease,
  leaseHolder,
  nodeCondition,
  nodeStatus,
  podOn,
  readToken,
  report,
  reportStatus,
} from './agent-pod.ts';
import { NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** What the account of an agent may do, by requests with the token of its pod. */

const OTHER = 'other-node';
const PODS = '/api/v1/namespaces/kubediag/pods';

let cluster: SharedCluster;
let scratch: string;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await sharedCluster(CURRENT);
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-rights-'));
  await cluster.kubectl('apply', '--filename=deploy/crds');
  await cluster.kubectl('wait', '--for=condition=Established', '--filename=deploy/crds');
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Node', metadata: { name: OTHER } },
    ...[NODE, OTHER].map((nodeName) => ({
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { name: `on-${nodeName}` },
      spec: { operationSet: 'set', nodeName },
    })),
  );
});

afterAll(async () => {
  const now = ['--ignore-not-found', '--force', '--grace-period=0'];
  await cluster.kubectl('delete', '--ignore-not-found', 'node', OTHER);
  await cluster.kubectl('delete', '--ignore-not-found', '--filename=deploy/kubediag.yaml', ...now);
  await cluster.kubectl('delete', '--ignore-not-found', '--filename=deploy/crds');
  await rm(scratch, { recursive: true, force: true });
});

it('is installed without a warning', async () => {
  const text = await readFile('deploy/kubediag.yaml', 'utf8');
  // The image has a shell; what it shall run is not in it, and is tried again and again.
  const input = text.replaceAll(/registry[.]example\/kubediag:\S+/g, cluster.image);
  const { code, stderr } = await cluster.run(['kubectl', 'apply', '--filename=-'], { input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await expect
    .poll(() => podOn(cluster, NODE), { timeout: 60_000 })
    .toMatchObject({ status: { phase: 'Running' } });
  const policies = text.match(/^kind: ValidatingAdmissionPolicy$/gm) ?? [];
  expect(policies.length).toBeGreaterThan(0);
  const status = ['-o=jsonpath={range .items[*]}{.status.typeChecking}{"\\n"}{end}'];
  await expect
    .poll(() => cluster.kubectl('get', 'ValidatingAdmissionPolicy', ...status), { timeout: 60_000 })
    .toBe('{}\n'.repeat(policies.length));
});

it('gives the token to the agent, and not to the executor', async () => {
  const token = await readToken(cluster, NODE, 'agent');
  expect(token).toMatch(/^[\w-]+[.][\w-]+[.][\w-]+$/);
  kubeconfig = await configWith(cluster, token, scratch);
  expect(await readToken(cluster, NODE, 'executor')).toBe('');
});

it('restarts what ends', async () => {
  const { metadata } = (await podOn(cluster, NODE)) ?? { metadata: { name: '' } };
  const log = () => cluster.kubectl('logs', IN_OURS, metadata.name, '--container=agent');
  await expect
    .poll(log, { timeout: 60_000 })
    .toMatch(/agent ended with exit code 127, and starts again in 1s[\s\S]*starts again in 2s/);
});

describe('the agent of a node', () => {
  it.each([
    ['the status of its Diagnosis', diagnosisStatus(NODE)],
    ['its NodeReport', report(NODE)],
    ['the status of its NodeReport', reportStatus(NODE)],
    ['its Lease', lease(NODE)],
    ['its Lease again', leaseHolder(NODE)],
    ['its condition of its Node', nodeCondition(NODE)],
    ['Events about its Node', event({ kind: 'Node', name: NODE }, NODE)],
    ['Events about pods', event({ kind: 'Pod', name: 'a', namespace: 'default' }, NODE)],
  ])('writes %s', async (_, wanted) => {
    expect(await attempt(cluster, wanted, kubeconfig)).toBe('permitted');
  });

  it.each([
    ['the status of another Diagnosis', diagnosisStatus(OTHER), 'which is not of this node'],
    ['another NodeReport', report(OTHER), 'may not write NodeReport other-node'],
    ['another Lease', lease(OTHER), 'may not write Lease other-node'],
    ['the condition of another Node', nodeCondition(OTHER), 'may not write Node other-node'],
    ['that its Node is not ready', nodeCondition(NODE, 'Ready'), 'may only write NodeFault'],
    [
      'that its Node has no condition',
      nodeStatus(NODE, { status: { conditions: [{ $patch: 'replace' }] } }),
      'may only write NodeFault',
    ],
    [
      'the capacity of its Node',
      nodeStatus(NODE, { status: { capacity: { 'example.org/free': '1' } } }),
      'may only write the condition NodeFault',
    ],
    [
      'a label of its Node',
      nodeStatus(NODE, { metadata: { labels: { 'example.org/role': 'a' } } }),
      'may only write the condition NodeFault',
    ],
    [
      'Events about another Node',
      event({ kind: 'Node', name: OTHER }, NODE),
      'may only report Events about its Node and about pods',
    ],
    [
      'Events in the name of another',
      event({ kind: 'Node', name: NODE }, OTHER),
      'whose reportingInstance is its node',
    ],
    [
      'Events in the name of another program',
      event({ kind: 'Pod', name: 'a', namespace: 'default' }, NODE, 'kubelet'),
      'whose reportingController is kubediag.org/agent',
    ],
    [
      'Events about the report of another',
      event({ apiVersion: 'diagnosis.kubediag.org/v1', kind: 'NodeReport', name: OTHER }, NODE),
      'may only report Events about its Node and about pods',
    ],
  ])('does not write %s', async (_, wanted, why) => {
    const refusal = await attempt(cluster, wanted, kubeconfig);
    expect(refusal).toContain(`node ${NODE}: `);
    expect(refusal).toContain(why);
  });

  it.each([
    ['secrets', ['get', 'secrets', '--all-namespaces']],
    ['commands in pods', ['create', '--raw', `${PODS}/a/exec?command=id`, '--filename=-']],
    ['the logs of pods', ['get', '--raw', `${PODS}/a/log`]],
    ['the policy of the executor', ['get', 'configmap', 'kubediag-executor', IN_OURS]],
    ['a Diagnosis', ['delete', 'diag', `on-${NODE}`]],
    ['the spec of a Diagnosis', ['label', 'diag', `on-${NODE}`, 'a=b']],
    ['its Node', ['label', 'node', NODE, 'a=b']],
    ['its NodeReport', ['delete', 'nodereport', NODE]],
  ])('has no right to %s', async (_, args) => {
    expect(await attempt(cluster, { args }, kubeconfig)).toContain('Forbidden');
  });

  it('writes nothing with a token that is bound to no node', async () => {
    const token = await cluster.kubectl('create', 'token', 'kubediag-agent', IN_OURS);
    const unbound = await configWith(cluster, token.trim(), scratch);
    for (const wanted of [diagnosisStatus(NODE), reportStatus(NODE), leaseHolder(NODE)]) {
      expect(await attempt(cluster, wanted, unbound)).toContain('is not bound to a node');
    }
  });
});
