import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { fetchedDigest } from './fetched-digest.ts';
import { install } from './installation.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

/** The agents of `deploy/kubediag.yaml`, with kubectl alone. */

const API = 'diagnosis.kubediag.org/v1';
const IN_OURS = '--namespace=kubediag';
const NODES = [NEW_NODE, OLD_NODE];
/** Of the first node, as every node and pod sees it. */
const SERVER = { address: '10.97.0.1', port: 8700 };
const SOON = { timeout: 90_000, interval: 300 };

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await install(cluster);
  void cluster.node(NEW_NODE).run(['node', '-e', SLOW_SERVER], { limitMs: 600_000 });
  const path = '/processor/mountInfoCollector';
  const server = { ...SERVER, path: '/', scheme: 'http' };
  await cluster.apply(
    operation('mounts', { path, timeoutSeconds: 30 }),
    operation('server', { httpServer: server, timeoutSeconds: 60 }),
    chain('four-steps', ['mounts', 'mounts', 'mounts', 'mounts']),
    chain('server-between', ['mounts', 'server', 'mounts']),
  );
});

it('is installed by the documented commands, with the OperationSet of each fault', async () => {
  const sets = await readdir('deploy/operations');
  const names = sets.map(
    (file) => `operationset.diagnosis.kubediag.org/${basename(file, '.yaml')}`,
  );
  const installed = await cluster.kubectl('get', 'operationsets', '--output=name');
  expect(installed.split('\n')).toEqual(expect.arrayContaining(names));
});

/** Answers after a while with a large value, and with how often it was asked for a Diagnosis. */
const SLOW_SERVER = `
const asked = new Map();
require('node:http').createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  const name = JSON.parse(text)['diagnosis.name'];
  const times = (asked.get(name) ?? 0) + 1;
  asked.set(name, times);
  setTimeout(() => response.end(JSON.stringify({ large: 'x'.repeat(100000), times: String(times) })), 3000);
}).listen(${SERVER.port}, '0.0.0.0');
`;

function operation(name: string, processor: object): object {
  return { apiVersion: API, kind: 'Operation', metadata: { name }, spec: { processor } };
}

function chain(name: string, operations: readonly string[]): object {
  const nodes = operations.map((each, index) => {
    const id = index + 1;
    return { id, operation: each, ...(id < operations.length ? { to: [id + 1] } : {}) };
  });
  const spec = { adjacencyList: [{ id: 0, to: [1] }, ...nodes] };
  return { apiVersion: API, kind: 'OperationSet', metadata: { name }, spec };
}

async function diagnose(name: string, nodeName: string, operationSet: string): Promise<void> {
  const spec = { operationSet, nodeName };
  await cluster.apply({ apiVersion: API, kind: 'Diagnosis', metadata: { name }, spec });
}

interface Diagnosis {
  readonly metadata: { readonly uid: string };
  readonly status?: DiagnosisStatus;
}

async function diagnosis(name: string): Promise<Diagnosis> {
  return JSON.parse(await cluster.kubectl('get', 'diagnosis', name, '-o=json')) as Diagnosis;
}

const phaseOf = (name: string) => async () => (await diagnosis(name)).status?.phase;

async function podOn(node: string): Promise<string> {
  const selected = [
    '--selector=app.kubernetes.io/name=kubediag-agent',
    `--field-selector=spec.nodeName=${node}`,
    '-o=jsonpath={.items[0].metadata.name}',
  ];
  return cluster.kubectl('get', 'pods', IN_OURS, ...selected);
}

/** Kills the process of a container, which its process 1 starts again. */
async function kill(node: string, container: 'agent' | 'executor'): Promise<void> {
  const script = 'kill -9 $(cat /proc/1/task/1/children)';
  const pod = [IN_OURS, await podOn(node), `--container=${container}`];
  await cluster.kubectl('exec', ...pod, '--', 'sh', '-c', script);
}

it.each(NODES)('runs the Diagnoses of %s, and writes what the manual shows', async (node) => {
  const name = `four-${node}`;
  await diagnose(name, node, 'four-steps');
  await cluster.kubectl('wait', '--for=condition=Complete', `diagnosis/${name}`, '--timeout=90s');
  const { status } = await diagnosis(name);
  expect(status).toMatchObject({
    phase: 'Succeeded',
    conditions: [
      { type: 'Accepted', message: `Diagnosis is accepted by agent on node ${node}` },
      { type: 'Complete', message: 'Diagnosis is completed' },
    ],
  });
  expect(status?.succeededPath).toHaveLength(4);
  expect(status?.operationResults?.['collector.system.mountinfo']).toContain('/var/lib/kubelet');
});

it.each(NODES)('has the built-in OperationSets on %s without a manifest', async (node) => {
  const name = `built-in-${node}`;
  await diagnose(name, node, 'dead-volume-mount');
  await expect.poll(async () => (await diagnosis(name)).status?.result, SOON).toBe('NothingFound');
});

it('renews a Lease with the name of the node', async () => {
  for (const node of NODES) {
    const field = '-o=jsonpath={.spec.holderIdentity}';
    const holder = () =>
      cluster.kubectl('get', 'lease', IN_OURS, node, '--ignore-not-found', field);
    await expect.poll(holder, SOON).toBe(node);
  }
});

describe('a large result', () => {
  it('is fetched with the command in the status, only with its key, and is gone with its Diagnosis', async () => {
    await diagnose('large', OLD_NODE, 'server-between');
    await expect.poll(phaseOf('large'), SOON).toBe('Succeeded');
    const { status, metadata } = await diagnosis('large');
    expect(status?.operationResults?.times).toBe('1');
    const text = status?.operationResults?.large ?? '';
    const [, path = ''] = /kubectl get --raw '([^']+)'/.exec(text) ?? [];
    expect(await cluster.kubectl('get', '--raw', path)).toBe('x'.repeat(100_000));
    const [large] = status?.largeResults ?? [];
    expect(large).toMatchObject({ key: 'large', bytes: 100_000 });
    expect(path).toContain(`/proxy/results/${metadata.uid}/${large?.file}?key=${large?.accessKey}`);
    for (const wrong of [path.replace(/key=.*/, 'key=00'), path.replace(/[?]key=.*/, '')]) {
      await expect(cluster.kubectl('get', '--raw', wrong)).rejects.toThrow('not found');
    }
    const stored = cluster.node(OLD_NODE);
    const files = async () =>
      (await stored.run(['ls', '/var/lib/kubediag/cluster/results'])).stdout;
    expect(await files()).toContain(metadata.uid);
    await cluster.kubectl('delete', 'diagnosis', 'large');
    await expect.poll(files, SOON).not.toContain(metadata.uid);
    await expect(cluster.kubectl('get', '--raw', path)).rejects.toThrow('not found');
  });
});

/** Answers as a Docker in debug mode does, with bytes that are not UTF-8. */
const DOCKER = `
const dump = Buffer.concat([Buffer.from('goroutine 1 [running]:\\n'), Buffer.alloc(3000000, 0xff)]);
require('node:http').createServer((_, response) => response.end(dump)).listen('/run/docker.sock');
`;

describe('a file of a step', () => {
  it('is fetched with the command in the status, only with its key, and is gone with its Diagnosis', async () => {
    const node = cluster.node(OLD_NODE);
    await node.run(['rm', '-f', '/run/docker.sock']);
    void node.run(['timeout', '120', 'node', '-e', DOCKER], { limitMs: 130_000 });
    const isThere = async () => (await node.run(['test', '-S', '/run/docker.sock'])).code;
    await expect.poll(isThere, SOON).toBe(0);
    await cluster.apply(chain('dump', ['dockerd-goroutine-collector']));
    await diagnose('dump', OLD_NODE, 'dump');
    await expect.poll(phaseOf('dump'), SOON).toBe('Succeeded');
    await node.run(['rm', '-f', '/run/docker.sock']);
    const { status, metadata } = await diagnosis('dump');
    const [file] = status?.files ?? [];
    if (!file) throw new Error(JSON.stringify(status));
    expect(file).toMatchObject({ name: 'goroutines/dockerd.txt', bytes: 3_000_023 });
    const path = status?.operationResults?.['collector.runtime.dockerd.goroutine'] ?? '';
    expect(path).toBe(`/var/lib/kubediag/cluster/results/${metadata.uid}/${file.file}`);
    const digest = async () => (await node.run(['sha256sum', path])).stdout.slice(0, 64);
    expect(await digest()).toBe(file.sha256);
    expect(await fetchedDigest(cluster, file.message)).toBe(file.sha256);
    const wrong = file.message.replace(/key=[^']*/, 'key=00');
    await expect(fetchedDigest(cluster, wrong)).rejects.toThrow('not found');
    await cluster.kubectl('delete', 'diagnosis', 'dump');
    await expect.poll(digest, SOON).toBe('');
    await expect(fetchedDigest(cluster, file.message)).rejects.toThrow('not found');
  });
});

describe('during a step', () => {
  const isAtServer = (name: string) => async () =>
    (await diagnosis(name)).status?.checkpoint?.nodeIndex;

  it('a killed agent or executor comes back, and the Diagnosis ends', async () => {
    for (const container of ['agent', 'executor'] as const) {
      const name = `killed-${container}`;
      await diagnose(name, NEW_NODE, 'server-between');
      await expect.poll(isAtServer(name), SOON).toBe(1);
      await kill(NEW_NODE, container);
      await expect.poll(phaseOf(name), SOON).toBe('Succeeded');
    }
    // Only the agent asks servers; the next one asks again, because it cannot know the answer.
    const times = async (name: string) => (await diagnosis(name)).status?.operationResults?.times;
    expect(await times('killed-agent')).toBe('2');
    expect(await times('killed-executor')).toBe('1');
  });

  it('a killed API server comes back, and no step runs twice', async () => {
    await diagnose('no-server', OLD_NODE, 'server-between');
    await expect.poll(isAtServer('no-server'), SOON).toBe(1);
    const server = cluster.parts['kube-apiserver'];
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await server.start();
    const phase = () => phaseOf('no-server')().catch(() => undefined);
    await expect.poll(phase, SOON).toBe('Succeeded');
    const { status } = await diagnosis('no-server');
    expect(status?.operationResults?.times).toBe('1');
    expect(status?.steps?.map(({ outcome }) => outcome)).toEqual(Array(3).fill('Succeeded'));
  });
});
