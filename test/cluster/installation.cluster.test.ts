import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isObject, listAt, textAt } from '../../src/lib/std/json.ts';
import { ADMISSION_POLICIES } from '../../src/pipeline/api/cluster-names.ts';
import { clusterKinds } from '../../src/pipeline/api/kinds.ts';
import { ownOperationSets } from '../../src/pipeline/operations/catalogue.ts';
import type { Cluster } from '../../tools/cluster/cluster.ts';
import { LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { deployedImage } from '../../tools/deploy/pod-parts.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';
import {
  type ClusterObjects,
  clusterObjects,
  type NodeState,
  namesIn,
  nodeState,
  settledObjects,
} from './cluster-state.ts';
import {
  allCommandsOf,
  commandsOf,
  installCommands,
  REMOVAL_PAGE,
  removalSteps,
  runCommands,
} from './installation.ts';
import { ownCluster } from './own-cluster.ts';
import { makeSickPod } from './sick-pod.ts';

/** The pages on installation, upgrade and removal, word by word, on a Kubernetes that has just started. */

const API = 'diagnosis.kubediag.org/v1';
const READY_MS = 60_000;
const SOON = { timeout: 90_000, interval: 500 };
const STATE_DIRECTORY = '/var/lib/kubediag';
const JOURNAL = `${STATE_DIRECTORY}/journal.jsonl`;
const [NEWER, OLDER] = ['newer', 'older'];
const NODES = [NEWER, OLDER];
/** Of the first node, as every node and pod sees it. */
const SERVER = { address: '10.97.0.1', port: 8700 };

let cluster: Cluster;
let objectsBefore: ClusterObjects;
let nodesBefore: readonly NodeState[];

beforeAll(async () => {
  cluster = await ownCluster('install', {
    executable: EXECUTABLE,
    nodes: [{ name: NEWER }, { name: OLDER, kubelet: LAST_WITH_STALE_SUBPATH }],
  });
  await runPods();
  objectsBefore = await settledObjects(cluster);
  nodesBefore = cluster.nodes.map(nodeState);
});

afterAll(() => cluster.stop());

it('is ready within a minute, without a warning', async () => {
  const deadline = Date.now() + READY_MS;
  const { code, stderr } = await runCommands(cluster, await installCommands());
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const timeout = Math.max(deadline - Date.now(), 1);
  await expect.poll(notReady, { timeout, interval: 500 }).toEqual([]);
  expect(await nodesOfControllers()).toEqual(NODES);
});

it('has agents that renew their Leases', async () => {
  const renewed = await renewTimes();
  expect(renewed).toHaveLength(NODES.length);
  const older = async () => {
    const now = await renewTimes();
    return now.filter((time, index) => time === renewed[index]);
  };
  await expect.poll(older, SOON).toEqual([]);
});

it('runs a Diagnosis on one node, and one on all nodes', async () => {
  const operationSet = 'stale-subpath-mount';
  await diagnose('one', { operationSet, nodeName: OLDER });
  await diagnose('all', { operationSet, targetSelector: { nodeSelector: {} } });
  await expect.poll(() => statusOf('one'), SOON).toEqual(['Failed', 'NothingFound']);
  await expect.poll(() => statusOf('all'), SOON).toEqual(['Succeeded', 'NothingFound']);
  const progress = '--output=jsonpath={.status.progress}';
  expect(await cluster.kubectl('get', 'diagnosis', 'all', progress)).toBe('2/2');
});

it('repairs a node as soon as its policy, which the controller has made, permits it', async () => {
  await makeSickPod(cluster, OLDER, 'sick');
  await diagnose('repair', { operationSet: 'stale-subpath-mount', nodeName: OLDER });
  await expect.poll(() => statusOf('repair'), SOON).toEqual(['Succeeded', 'Repaired']);
  await cluster.kubectl('delete', 'pod/sick', 'configmap/settings');
});

/** Their names on the pages are examples. */
const NAMESPACES = ['shop', 'on-call', 'monitoring'];

/** kubectl warns of an object that it has not created itself. */
const MISSING_ANNOTATION =
  /^Warning: resource recoverypolicies\/default is missing the .* annotation .*\n/m;

it.each(['docs/recovery.md', 'docs/rights.md'])(
  'runs every command of the page %s',
  async (page) => {
    for (const name of NAMESPACES) await cluster.kubectl('create', 'namespace', name);
    await diagnose('web', { operationSet: 'stale-subpath-mount', nodeName: OLDER }, 'shop');
    const policy = await commandsOf('docs/recovery.md', 'apiVersion: ');
    const commands = await allCommandsOf(page);
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) {
      const script = `cat > policy.yaml <<'END'\n${policy}END\n${command}`;
      const { code, stderr } = await runCommands(cluster, script);
      const unexpected = stderr.replace(MISSING_ANNOTATION, '');
      expect({ command, code, unexpected }).toEqual({ command, code: 0, unexpected: '' });
    }
    const permit = '--patch=[{"op":"replace","path":"/spec","value":{}}]';
    await cluster.kubectl('patch', 'recoverypolicy', 'default', '--type=json', permit);
    await cluster.kubectl('delete', 'clusterrolebinding/on-call', '--ignore-not-found');
    await cluster.kubectl('delete', 'namespace', ...NAMESPACES);
  },
);

it('goes on with a Diagnosis while agents and controllers are replaced', async () => {
  void cluster.run(['node', '-e', SILENT_SERVER], { limitMs: 1_200_000 });
  const httpServer = { ...SERVER, path: '/', scheme: 'http' };
  await cluster.apply(
    {
      ...{ apiVersion: API, kind: 'Operation', metadata: { name: 'ask' } },
      spec: { processor: { httpServer, timeoutSeconds: 300 } },
    },
    {
      ...{ apiVersion: API, kind: 'OperationSet', metadata: { name: 'ask' } },
      spec: {
        adjacencyList: [
          { id: 0, to: [1] },
          { id: 1, operation: 'ask' },
        ],
      },
    },
  );
  await diagnose('upgraded', { operationSet: 'ask', nodeName: NEWER });
  await expect.poll(() => askedFor('upgraded'), SOON).toBe(1);
  // The file as it is has another name of the same image, as another version would have.
  const upgrade = await commandsOf('docs/upgrade.md', 'kubectl apply');
  const { code, stderr } = await runCommands(cluster, upgrade);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const image = '--output=jsonpath={.items[*].spec.containers[*].image}';
  const images = await cluster.kubectl('get', 'pods', '--namespace=kubediag', image);
  expect([...new Set(images.split(' '))]).toEqual([deployedImage('0.1.0')]);
  await expect.poll(() => statusOf('upgraded'), SOON).toEqual(['Succeeded', 'Completed']);
  expect(await askedFor('upgraded')).toBe(2);
});

it('is removed while a Diagnosis runs, and leaves nothing on the cluster', async () => {
  await diagnose('silent', { operationSet: 'ask', targetSelector: { nodeSelector: {} } });
  await expect.poll(() => askedFor('silent'), SOON).toBeGreaterThan(0);
  await remove();
  expect(await clusterObjects(cluster)).toEqual(objectsBefore);
});

it('leaves on the nodes only the directory of the journal, with what the page names', async () => {
  for (const [index, node] of cluster.nodes.entries()) {
    const before = nodesBefore[index];
    const directories = [...(before?.directories ?? []), STATE_DIRECTORY].toSorted();
    // The kubelet removes the logs of a pod some time after it.
    await expect.poll(() => nodeState(node), SOON).toEqual({ ...before, directories });
    const names = namesIn(node, STATE_DIRECTORY).map((path) => path.split('/').pop() ?? '');
    const named = namedInRemoval();
    // lock-17
    const unnamed = names.filter((name) => !named.includes(name.replace(/^lock-\d+$/, 'lock-N')));
    expect(unnamed).toEqual([]);
  }
});

it('is installed again, and continues the journal', async () => {
  const journal = () => readFileSync(cluster.node(OLDER).outside(JOURNAL), 'utf8');
  const before = journal();
  expect(before).not.toBe('');
  const { code, stderr } = await runCommands(cluster, await installCommands());
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await expect.poll(notReady, SOON).toEqual([]);
  await makeSickPod(cluster, OLDER, 'sick');
  await diagnose('again', { operationSet: 'stale-subpath-mount', nodeName: OLDER });
  await expect.poll(() => statusOf('again'), SOON).toEqual(['Succeeded', 'Repaired']);
  expect(journal().startsWith(before)).toBe(true);
  expect(journal().length).toBeGreaterThan(before.length);
  await cluster.kubectl('delete', 'pod/sick', 'configmap/settings');
  // The standing check sees the repair a moment later.
  await expect.poll(notReady, SOON).toEqual([]);
});

it('is removed in the wrong order, and the page says how the conditions go', async () => {
  const [, rest = ''] = await removalSteps();
  expect(await runCommands(cluster, rest)).toMatchObject({ code: 0, stderr: '' });
  const commands = await commandsOf(REMOVAL_PAGE, 'kubectl get nodes');
  for (const name of NODES) {
    const { code, stdout, stderr } = await runCommands(
      cluster,
      commands.replace(' NODE ', ` ${name} `),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${name} +False$`, 'm'));
  }
  expect(await clusterObjects(cluster)).toEqual(objectsBefore);
});

/** One on each node, and removes it: then a node has the directories of its network plugin. */
async function runPods(): Promise<void> {
  const pods = NODES.map((nodeName) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: nodeName } },
    spec: {
      ...{ nodeName, terminationGracePeriodSeconds: 0 },
      containers: [{ name: 'app', image: cluster.image, command: ['sleep', '86400'] }],
    },
  }));
  await cluster.apply(...pods);
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=90s');
  await cluster.kubectl('delete', 'pod', '--all');
}

async function remove(): Promise<void> {
  for (const commands of await removalSteps()) {
    const { code, stderr } = await runCommands(cluster, commands);
    expect({ commands, code, stderr }).toEqual({ commands, code: 0, stderr: '' });
  }
}

/** | `journal.jsonl`, `journal.1.jsonl` | every action on this node | */
function namedInRemoval(): readonly string[] {
  const rows = readFileSync(REMOVAL_PAGE, 'utf8').matchAll(/^\| (`[^|]+`) \|/gm);
  return [...rows].flatMap(([, cell = '']) => cell.split(', ').map((name) => name.slice(1, -1)));
}

/** What of the installation is missing, or does not work yet. */
async function notReady(): Promise<readonly string[]> {
  const resources = [
    ...['deployments', 'daemonsets', 'crd', 'validatingadmissionpolicies'],
    ...['validatingadmissionpolicybindings', 'operationsets', 'nodereports', 'recoverypolicies'],
    ...['nodes', 'leases'],
  ];
  const get = ['get', resources.join(), '--all-namespaces', '--output=json'];
  // Before the kinds of the installation are there, kubectl fails.
  const { code, stdout, stderr } = await cluster.run(['kubectl', ...get]);
  if (code !== 0) return [stderr];
  const objects = listAt(JSON.parse(stdout), 'items') ?? [];
  const found = new Map(objects.map((object) => [nameOf(object), object]));
  return Object.entries(expectedObjects).flatMap(([name, isReady]) => {
    const object = found.get(name);
    if (object === undefined) return [`${name} is missing`];
    return isReady(object) ? [] : [`${name}: ${JSON.stringify(object)}`];
  });
}

type IsReady = (object: unknown) => boolean;

const nameOf = (object: unknown) =>
  `${textAt(object, 'kind')}/${textAt(object, 'metadata', 'name')}`;

const hasStatus =
  (expected: object): IsReady =>
  (object) => {
    const { status } = isObject(object) ? object : {};
    return Object.entries(expected).every(
      ([field, value]) => isObject(status) && status[field] === value,
    );
  };

const hasCondition =
  (type: string, status: string): IsReady =>
  (object) =>
    (listAt(object, 'status', 'conditions') ?? []).some(
      (each) => textAt(each, 'type') === type && textAt(each, 'status') === status,
    );

/** The API server has checked the types of its expressions, and has nothing to warn of. */
const isChecked: IsReady = (object) => {
  const { status } = isObject(object) ? object : {};
  return JSON.stringify(status) === '{"observedGeneration":1,"typeChecking":{}}';
};

const each = (kind: string, names: readonly string[], isReady: IsReady) =>
  Object.fromEntries(names.map((name) => [`${kind}/${name}`, isReady]));

const expectedObjects: Readonly<Record<string, IsReady>> = {
  'Deployment/kubediag-controller': hasStatus({ readyReplicas: 2, updatedReplicas: 2 }),
  'DaemonSet/kubediag-agent': hasStatus({ desiredNumberScheduled: 2, numberAvailable: 2 }),
  ...each(
    'CustomResourceDefinition',
    clusterKinds.map(({ plural }) => `${plural}.diagnosis.kubediag.org`),
    hasCondition('Established', 'True'),
  ),
  ...each('ValidatingAdmissionPolicy', ADMISSION_POLICIES, isChecked),
  ...each('ValidatingAdmissionPolicyBinding', ADMISSION_POLICIES, () => true),
  ...each(
    'OperationSet',
    ownOperationSets.map(({ name }) => name),
    hasCondition('Ready', 'True'),
  ),
  'RecoveryPolicy/default': (object) =>
    hasCondition('RightsEnforced', 'True')(object) &&
    hasCondition('RecoveryPermitted', 'True')(object),
  'Lease/kubediag-recovery-0': () => true,
  ...each('NodeReport', NODES, hasStatus({ state: 'clear' })),
  ...each('Node', NODES, hasCondition('NodeFault', 'False')),
};

/** One that is down or drained leaves the other one. */
async function nodesOfControllers(): Promise<readonly string[]> {
  const ofControllers = ['--namespace=kubediag', '-l=app.kubernetes.io/name=kubediag-controller'];
  const nodes = '--output=jsonpath={.items[*].spec.nodeName}';
  const names = await cluster.kubectl('get', 'pods', ...ofControllers, nodes);
  return names.split(' ').toSorted();
}

async function renewTimes(): Promise<readonly string[]> {
  const times = '--output=jsonpath={.items[*].spec.renewTime}';
  const leases = NODES.map((name) => `lease/${name}`);
  return (await cluster.kubectl('get', '--namespace=kubediag', ...leases, times)).split(' ');
}

async function diagnose(name: string, spec: object, namespace = 'default'): Promise<void> {
  await cluster.apply({ apiVersion: API, kind: 'Diagnosis', metadata: { name, namespace }, spec });
}

async function statusOf(name: string): Promise<readonly string[]> {
  const fields = '--output=jsonpath={.status.phase} {.status.result}';
  return (await cluster.kubectl('get', 'diagnosis', name, fields)).split(' ');
}

/** Answers the second request for a Diagnosis of one node; GET gives how often it was asked for a Diagnosis. */
const SILENT_SERVER = `
const asked = new Map();
require('node:http').createServer(async (request, response) => {
  const of = request.url.slice(1);
  if (request.method === 'GET') return response.end(String(asked.get(of) ?? 0));
  let text = '';
  for await (const piece of request) text += piece;
  const name = JSON.parse(text)['diagnosis.name'].split('-')[0];
  asked.set(name, (asked.get(name) ?? 0) + 1);
  if (name === 'upgraded' && asked.get(name) === 2) response.end('{"asked":"twice"}');
}).listen(${SERVER.port}, '0.0.0.0');
`;

async function askedFor(name: string): Promise<number> {
  const url = `http://${SERVER.address}:${SERVER.port}/${name}`;
  const script = `fetch(${JSON.stringify(url)}).then((it) => it.text()).then(console.log, () => {})`;
  const { stdout } = await cluster.run(['node', '-e', script]);
  return Number(stdout);
}
