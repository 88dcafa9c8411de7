import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import { NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** What the account of an agent may do, by requests with the token of its pod. */

const OTHER = 'other-node';
const IN_OURS = '--namespace=kubediag';
const API = 'diagnosis.kubediag.org/v1';

let cluster: SharedCluster;
let scratch: string;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await sharedCluster(CURRENT);
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-rights-'));
  await cluster.kubectl('apply', '--server-side', '--filename=deploy/crds');
  await cluster.kubectl('wait', '--for=condition=Established', '--filename=deploy/crds');
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Node', metadata: { name: OTHER } },
    ...[NODE, OTHER].map((nodeName) => ({
      apiVersion: API,
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
    .poll(() => podOn(NODE), { timeout: 60_000 })
    .toMatchObject({ status: { phase: 'Running' } });
  for (const kind of ['ValidatingAdmissionPolicy']) {
    const status = ['-o=jsonpath={range .items[*]}{.status.typeChecking}{"\\n"}{end}'];
    await expect
      .poll(() => cluster.kubectl('get', kind, ...status), { timeout: 60_000 })
      .toBe('{}\n'.repeat(5));
  }
});

interface Pod {
  readonly metadata: { readonly name: string };
}

async function podOn(node: string): Promise<Pod | undefined> {
  const selected = [
    '-l=app.kubernetes.io/name=kubediag-agent',
    `--field-selector=spec.nodeName=${node}`,
  ];
  const { items } = JSON.parse(
    await cluster.kubectl('get', 'pods', IN_OURS, ...selected, '-o=json'),
  ) as { readonly items: readonly Pod[] };
  return items[0];
}

async function inContainer(container: string, ...command: readonly string[]) {
  const { metadata } = (await podOn(NODE)) ?? { metadata: { name: '' } };
  const pod = [IN_OURS, metadata.name, `--container=${container}`];
  return cluster.run(['kubectl', 'exec', ...pod, '--', ...command]);
}

const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

it('gives the token to the agent, and not to the executor', async () => {
  const { stdout: token } = await inContainer('agent', 'cat', TOKEN);
  expect(token).toMatch(/^[\w-]+[.][\w-]+[.][\w-]+$/);
  kubeconfig = await configWith(token);
  expect(await inContainer('executor', 'cat', TOKEN)).toMatchObject({ code: 1, stdout: '' });
});

it('gives the agent no right on the node', async () => {
  const { stdout } = await inContainer('agent', 'sh', '-c', 'id -u; grep Cap /proc/self/status');
  expect(stdout).toMatch(/^10090\n/);
  expect(stdout).toMatch(/CapEff:\t0+\nCapBnd:\t0+\n/);
  const written = await inContainer('agent', 'sh', '-c', 'echo > /new; ls /host');
  expect(written.stderr).toMatch(/Read-only file system[\s\S]*No such file or directory/);
});

it('restarts what ends', async () => {
  const { metadata } = (await podOn(NODE)) ?? { metadata: { name: '' } };
  const log = () => cluster.kubectl('logs', IN_OURS, metadata.name, '--container=agent');
  await expect
    .poll(log, { timeout: 60_000 })
    .toMatch(/(kubediag agent ended with exit code 127, and starts again in 1s[\s\S]*){2}/);
});

/** A kubeconfig with a token in place of the certificate of the administrator. */
async function configWith(token: string): Promise<string> {
  const view = ['config', 'view', '--raw', '--output=json'];
  const config = JSON.parse(await cluster.kubectl(...view)) as {
    readonly users: readonly { readonly name: string }[];
  };
  const users = config.users.map(({ name }) => ({ name, user: { token } }));
  const path = join(scratch, `${token.slice(-8)}.json`);
  await writeFile(path, JSON.stringify({ ...config, users }));
  return path;
}

interface Attempt {
  readonly args: readonly string[];
  readonly object?: object;
}

async function attempt({ args, object }: Attempt, config = kubeconfig) {
  const { code, stderr } = await cluster.run(['kubectl', ...args], {
    input: object ? JSON.stringify(object) : '',
    environment: { KUBECONFIG: config },
  });
  return code === 0 ? 'permitted' : stderr;
}

const status = ['--subresource=status', '--type=merge'];
const patch = (value: unknown) => `--patch=${JSON.stringify(value)}`;
const create = (object: object): Attempt => ({ args: ['create', '--filename=-'], object });

const diagnosisStatus = (node: string): Attempt => ({
  args: ['patch', 'diag', `on-${node}`, ...status, patch({ status: { phase: 'Running' } })],
});
const report = (node: string): Attempt =>
  create({ apiVersion: API, kind: 'NodeReport', metadata: { name: node } });
const reportStatus = (node: string): Attempt => ({
  args: ['patch', 'nodereport', node, ...status, patch({ status: { state: 'clear' } })],
});
const lease = (name: string): Attempt =>
  create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kubediag' },
    spec: { holderIdentity: name },
  });
const leaseHolder = (name: string): Attempt => ({
  args: ['patch', 'lease', name, IN_OURS, '--type=merge', patch({ spec: { holderIdentity: 'b' } })],
});
const nodeStatus = (node: string, value: object): Attempt => ({
  args: ['patch', 'node', node, '--subresource=status', '--type=strategic', patch(value)],
});
const nodeCondition = (node: string, type = 'NodeFault'): Attempt =>
  nodeStatus(node, { status: { conditions: [{ type, status: 'False', reason: 'Test' }] } });
const event = (regarding: object, reportingInstance: string): Attempt =>
  create({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { generateName: 'test-', namespace: 'default' },
    eventTime: '2026-01-02T03:04:05.000000Z',
    reportingController: 'kubediag-agent',
    reportingInstance,
    action: 'Check',
    reason: 'Test',
    type: 'Normal',
    regarding: { apiVersion: 'v1', ...regarding },
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
    expect(await attempt(wanted)).toBe('permitted');
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
      'about Node other-node',
    ],
    [
      'Events in the name of another',
      event({ kind: 'Node', name: NODE }, OTHER),
      'whose reportingInstance is its node',
    ],
  ])('does not write %s', async (_, wanted, why) => {
    const refusal = await attempt(wanted);
    expect(refusal).toContain(`node ${NODE}: `);
    expect(refusal).toContain(why);
  });

  it.each([
    ['secrets', ['get', 'secrets', '--all-namespaces']],
    ['pods', ['get', 'pods', '--all-namespaces']],
    ['the policy of the executor', ['get', 'configmap', 'kubediag-executor', IN_OURS]],
    ['a Diagnosis', ['delete', 'diag', `on-${NODE}`]],
    ['the spec of a Diagnosis', ['label', 'diag', `on-${NODE}`, 'a=b']],
    ['its Node', ['label', 'node', NODE, 'a=b']],
    ['its NodeReport', ['delete', 'nodereport', NODE]],
  ])('has no right to %s', async (_, args) => {
    expect(await attempt({ args })).toContain('Forbidden');
  });

  it('writes nothing with a token that is bound to no node', async () => {
    const token = await cluster.kubectl('create', 'token', 'kubediag-agent', IN_OURS);
    const unbound = await configWith(token.trim());
    for (const wanted of [diagnosisStatus(NODE), reportStatus(NODE), leaseHolder(NODE)]) {
      expect(await attempt(wanted, unbound)).toContain('is not bound to a node');
    }
  });
});
