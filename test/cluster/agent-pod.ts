import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT_REPORTER } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import type { SharedCluster } from './shared-cluster.ts';

/** The pod of an agent, and requests to the API server with its token. */

export const IN_OURS = '--namespace=kubediag';
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
}

export async function podOn(cluster: SharedCluster, node: string): Promise<Pod | undefined> {
  const selected = [
    '-l=app.kubernetes.io/name=kubediag-agent',
    `--field-selector=spec.nodeName=${node}`,
  ];
  const { items } = JSON.parse(
    await cluster.kubectl('get', 'pods', IN_OURS, ...selected, '-o=json'),
  ) as { readonly items: readonly Pod[] };
  return items[0];
}

/** Runs a command in a container of the pod on this node. */
export async function inContainer(
  cluster: SharedCluster,
  node: string,
  container: 'agent' | 'executor',
  ...command: readonly string[]
) {
  const { metadata } = (await podOn(cluster, node)) ?? { metadata: { name: '' } };
  const pod = [IN_OURS, metadata.name, `--container=${container}`];
  return cluster.run(['kubectl', 'exec', ...pod, '--', ...command]);
}

export async function readToken(
  cluster: SharedCluster,
  node: string,
  container: 'agent' | 'executor',
): Promise<string> {
  const { stdout } = await inContainer(cluster, node, container, 'sh', '-c', `cat ${TOKEN}`);
  return stdout;
}

/** A kubeconfig with a token in place of the certificate of the administrator. */
export async function configWith(
  cluster: SharedCluster,
  token: string,
  folder: string,
): Promise<string> {
  const view = ['config', 'view', '--raw', '--output=json'];
  const config = JSON.parse(await cluster.kubectl(...view)) as {
    readonly users: readonly { readonly name: string }[];
  };
  const users = config.users.map(({ name }) => ({ name, user: { token } }));
  const path = join(folder, `${token.slice(-8)}.json`);
  await writeFile(path, JSON.stringify({ ...config, users }));
  return path;
}

interface Attempt {
  readonly args: readonly string[];
  readonly object?: object;
}

/** "permitted", or what the API server says. */
export async function attempt(
  cluster: SharedCluster,
  { args, object }: Attempt,
  kubeconfig: string,
): Promise<string> {
  const { code, stderr } = await cluster.run(['kubectl', ...args], {
    input: object ? JSON.stringify(object) : '',
    environment: { KUBECONFIG: kubeconfig },
  });
  return code === 0 ? 'permitted' : stderr;
}

const status = ['--subresource=status', '--type=merge'];
const patch = (value: unknown) => `--patch=${JSON.stringify(value)}`;
const create = (object: object): Attempt => ({ args: ['create', '--filename=-'], object });

/** Of the Diagnosis on-NODE. */
export const diagnosisStatus = (node: string): Attempt => ({
  args: ['patch', 'diag', `on-${node}`, ...status, patch({ status: { phase: 'Running' } })],
});
export const report = (node: string): Attempt =>
  create({ apiVersion: API_VERSION, kind: 'NodeReport', metadata: { name: node } });
export const reportStatus = (node: string): Attempt => ({
  args: ['patch', 'nodereport', node, ...status, patch({ status: { state: 'clear' } })],
});
export const lease = (name: string): Attempt =>
  create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kubediag' },
    spec: { holderIdentity: name },
  });
export const leaseHolder = (name: string): Attempt => ({
  args: ['patch', 'lease', name, IN_OURS, '--type=merge', patch({ spec: { holderIdentity: 'b' } })],
});
export const nodeStatus = (node: string, value: object): Attempt => ({
  args: ['patch', 'node', node, '--subresource=status', '--type=strategic', patch(value)],
});
export const nodeCondition = (node: string, type = 'NodeFault'): Attempt =>
  nodeStatus(node, { status: { conditions: [{ type, status: 'False', reason: 'Test' }] } });
export const event = (
  regarding: object,
  reportingInstance: string,
  reportingController: string = AGENT_REPORTER,
): Attempt =>
  create({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { generateName: 'test-', namespace: 'default' },
    eventTime: '2026-01-02T03:04:05.000000Z',
    reportingController,
    reportingInstance,
    action: 'Check',
    reason: 'Test',
    type: 'Normal',
    regarding: { apiVersion: 'v1', ...regarding },
  });
