import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { lintManifests } from '../../src/hosts/cli/manifests/lint-manifests.ts';
import { parseManifests } from '../../src/hosts/cli/manifests/parse-manifests.ts';
import { checkResource } from '../../src/pipeline/api/check-resource.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { API_VERSION, clusterKinds, GROUP } from '../../src/pipeline/api/kinds.ts';
import type { NodeReportStatus } from '../../src/pipeline/api/node-report.ts';
import { adjacencyHash } from '../../src/pipeline/graph/adjacency-hash.ts';
import { afterStep } from '../../src/pipeline/graph/after-step.ts';
import {
  decideNext,
  type SeenDiagnosis,
  type SeenSet,
} from '../../src/pipeline/graph/decide-next.ts';
import { pathsOf } from '../../src/pipeline/graph/paths.ts';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import { authorPolicies } from '../../tools/deploy/author-policies.ts';
import { badManifests } from '../bad-manifests.ts';
import { type SharedCluster, sharedCluster } from './shared-cluster.ts';

const CRDS = 'deploy/crds';
const MANIFESTS = 'test/manifests';
const POLICIES = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: authorPolicies.map(({ object }) => object),
});

/** Found by the policies alone. */
const UNKNOWN_PROCESSOR = fixture('Operation', { processor: { path: '/processor/none' } });
const CYCLE = fixture('OperationSet', {
  adjacencyList: [{ to: [1] }, { operation: 'a', to: [2] }, { operation: 'b', to: [1] }],
});

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(CURRENT);
  await cluster.kubectl('apply', '--server-side', `--filename=${CRDS}`);
  await cluster.kubectl('wait', '--for=condition=Established', `--filename=${CRDS}`);
  await withPolicies('apply');
});

afterAll(async () => {
  // They belong to no namespace, so nobody else would take them away.
  await withPolicies('delete');
  await cluster.kubectl('delete', '--ignore-not-found', `--filename=${CRDS}`);
});

it('takes the manifests of every KubeDiag as they are, and fills in the rest', async () => {
  // Twice: an object that was stored is right as well.
  await cluster.kubectl('apply', `--filename=${MANIFESTS}`);
  const again = await cluster.kubectl('apply', `--filename=${MANIFESTS}`);
  expect(again.trimEnd().split('\n').length).toBeGreaterThan(20);
  expect(again).not.toContain('configured');

  const specOf = async (...args: readonly string[]) =>
    JSON.parse(await cluster.kubectl('get', ...args, '-o=jsonpath={.spec}')) as unknown;
  expect(await specOf('operation', 'pod-list-collector')).toEqual({
    processor: {
      timeoutSeconds: 30,
      httpServer: { path: '/processor/podListCollector', scheme: 'http' },
    },
  });
  // Nothing is added to the flat form, where it would be a second way to run it.
  expect(await specOf('operation', 'mount-info-collector')).toEqual({
    processor: { timeoutSeconds: 60, path: '/processor/mountInfoCollector', scheme: 'http' },
  });
  expect(await specOf('opset', 'golang-function')).toMatchObject({
    adjacencyList: [{ to: [1, 1] }, { operation: 'golang-function' }],
  });
});

it('rejects a mistyped field, or drops it with --validate=ignore', async () => {
  const mistyped = JSON.stringify({
    ...fixture('Diagnosis', { operationSet: 'a', nodeName: 'a', Recovery: 'Approval' }),
    metadata: { name: 'mistyped' },
  });
  const create = (...args: readonly string[]) =>
    cluster.run(['kubectl', 'create', '--filename=-', ...args], { input: mistyped });
  const refused = await create();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('strict decoding error: unknown field "spec.Recovery"');
  const dropped = await create('--validate=warn');
  expect(dropped.code, dropped.stderr).toBe(0);
  expect(dropped.stderr).toContain('unknown field "spec.Recovery"');
  const stored = await cluster.kubectl('get', 'diag', 'mistyped', '-o=jsonpath={.spec}');
  expect(JSON.parse(stored)).toEqual({ operationSet: 'a', nodeName: 'a' });
});

it('shows a Diagnosis as it always was shown, and has its status apart', async () => {
  const status = { phase: 'Succeeded', checkpoint: { pathIndex: 0, nodeIndex: 3 } };
  const patch = JSON.stringify({ status });
  const name = ['diag', 'subpath-remount-diagnosis'];
  const args = ['--subresource=status', '--type=merge', `--patch=${patch}`];
  await cluster.kubectl('patch', ...name, ...args);
  const [head = '', row = ''] = (await cluster.kubectl('get', ...name)).split('\n');
  const columns = 'NAME OPERATIONSET NODENAME PHASE RESULT NODES AGE';
  expect(head.trim().split(/\s+/)).toEqual(columns.split(' '));
  expect(row).toMatch(/^subpath-remount-diagnosis +subpath-remount-op-set +my-node +Succeeded /);
  expect(row.length).toBeLessThanOrEqual(120);
  const wide = await cluster.kubectl('get', ...name, '-o=wide');
  expect(wide).toMatch(/ PODNAMESPACE +PODNAME +PODCONTAINER +PHASE +RESULT +NODES +AGE\n/);

  const wrong = JSON.stringify({ status: { phase: 'Done' } });
  const refused = ['patch', ...name, '--subresource=status', '--type=merge', `--patch=${wrong}`];
  await expect(cluster.kubectl(...refused)).rejects.toThrow('Unsupported value: "Done"');
});

it('lets nobody change what a Diagnosis is about, but stop it, approve it and set its times', async () => {
  const pod = { podReference: { namespace: 'default', name: 'web-0' } };
  const spec = { operationSet: 'a', ...pod, recovery: 'Approval' };
  await cluster.apply({ ...fixture('Diagnosis', spec), metadata: { name: 'fixed' } });
  const patch = (change: object) => {
    const text = JSON.stringify({ spec: change });
    return cluster.run(['kubectl', 'patch', 'diag', 'fixed', '--type=merge', `--patch=${text}`]);
  };
  const other = 'cannot be changed';
  for (const [change, message] of [
    [{ operationSet: 'b' }, `operationSet ${other}: create another Diagnosis`],
    [{ podReference: { name: 'web-1' } }, `podReference ${other}`],
    [{ podReference: null, nodeName: 'a' }, `podReference ${other}`],
    [{ parameters: { a: 'b' } }, `parameters ${other}`],
    [{ targetSelector: { nodeNames: ['a'] } }, `targetSelector ${other}`],
    [{ recovery: 'Automatic' }, `recovery ${other}`],
    [{ recovery: null }, `recovery ${other}`],
    [{ dryRun: true }, `dryRun ${other}`],
  ] as const) {
    const { code, stderr } = await patch(change);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
  }
  const times = { deadlineSeconds: 60, ttlSecondsAfterFinished: 60 };
  for (const change of [{ nodeName: 'a' }, { approvedPlan: 'p' }, { suspend: true }, times]) {
    expect(await patch(change)).toMatchObject({ code: 0 });
  }
  expect((await patch({ nodeName: 'b' })).stderr).toContain(`nodeName ${other} once it is set`);
  expect(await patch({ cancel: true })).toMatchObject({ code: 0 });
  for (const change of [{ cancel: false }, { cancel: null }]) {
    const back = 'cancel cannot be taken back: create another Diagnosis';
    expect((await patch(change)).stderr).toContain(back);
  }
  expect(await patch({ ttlSecondsAfterFinished: 90 })).toMatchObject({ code: 0 });
});

it('lets nobody turn a Diagnosis of many nodes into one of a single node', async () => {
  const many = { operationSet: 'a', targetSelector: { nodeNames: ['a', 'b'] } };
  const patched = async (name: string, given: object, nodeName: string) => {
    await cluster.apply({ ...fixture('Diagnosis', given), metadata: { name } });
    const text = JSON.stringify({ spec: { nodeName } });
    return cluster.run(['kubectl', 'patch', 'diag', name, '--type=merge', `--patch=${text}`]);
  };
  const { stderr } = await patched('many', many, 'a');
  expect(stderr).toContain(
    'nodeName cannot be added to a Diagnosis with targetSelector: create another Diagnosis with nodeName',
  );
  expect(await patched('many-emptied', many, '')).toMatchObject({ code: 0 });
  expect(await patched('one', { ...many, nodeName: 'a' }, 'a')).toMatchObject({ code: 0 });
  // The controller sets the node of the pod.
  const podReference = { namespace: 'default', name: 'web-0' };
  expect(await patched('pod', { ...many, podReference }, 'a')).toMatchObject({ code: 0 });
});

it('is structural, has no warning, and describes every field', async () => {
  // Every warning of the API server would be on the error output.
  const apply = ['kubectl', 'apply', '--server-side', '--force-conflicts', `--filename=${CRDS}`];
  expect(await cluster.run([...apply, '--field-manager=again'])).toMatchObject({
    code: 0,
    stderr: '',
  });
  for (const { kind, plural } of clusterKinds) {
    const name = ['crd', `${plural}.${GROUP}`];
    const types = await cluster.kubectl('get', ...name, '-o=jsonpath={.status.conditions[*].type}');
    expect(types.split(' ')).not.toContain('NonStructuralSchema');
    const fields = await cluster.kubectl('explain', kind, `--api-version=${API_VERSION}`);
    expect(fields).toMatch(/DESCRIPTION:\n {4}\w/);
    expect(fields).not.toContain('<no description>');
  }
  const tree = await cluster.kubectl('explain', 'diagnosis.status', '--recursive');
  expect(tree).toMatch(/ {2}findings\t<\[\]Object>\n {4}fault\t<string> -required-\n/);
});

it('selects Diagnoses by their node', async () => {
  const on = (node: string) =>
    cluster.kubectl('get', 'diagnoses', `--field-selector=spec.nodeName=${node}`, '-o=name');
  expect(await on('my-node')).toContain('/subpath-remount-diagnosis\n');
  expect(await on('my-node')).not.toContain('/two-nodes\n');
  expect(await on('no-node')).toBe('');
});

it('shows the report of a node', async () => {
  const status: NodeReportStatus = {
    state: 'active',
    checkTime: new Date().toISOString(),
    durationMilliseconds: 412,
    counts: { findings: 1, active: 1, unknowns: 2 },
    findings: [
      {
        fault: 'a-fault',
        id: '3f9a1c',
        state: 'active',
        reason: 'ItIsBroken',
        summary: 'It is broken.',
        proof: [{ claim: 'it is deleted', origin: '/proc/8:4' }],
      },
    ],
    kubeletVersion: 'v1.36.3',
    runtimeVersion: 'containerd://1.6.20',
    kubediagVersion: '0.1.0',
  };
  await cluster.apply({ apiVersion: API_VERSION, kind: 'NodeReport', metadata: { name: 'web-3' } });
  const patch = [`--patch=${JSON.stringify({ status })}`, '--type=merge', '--subresource=status'];
  await cluster.kubectl('patch', 'nr', 'web-3', ...patch);
  const [head, row] = (await cluster.kubectl('get', 'nodereports')).split('\n');
  expect(head).toMatch(/^NAME +STATE +FINDINGS +UNKNOWNS +KUBELET +CHECKED$/);
  expect(row).toMatch(/^web-3 +active +1 +2 +v1[.]36[.]3 +\d+s$/);
  const wide = await cluster.kubectl('get', 'nodereports', '-o=wide');
  expect(wide).toMatch(/ containerd:\/\/1[.]6[.]20 +0[.]1[.]0 +It is broken[.] /);
});

it('takes every status that a walk through a graph writes', async () => {
  const list = [
    { to: [1, 2] },
    { operation: 'missing', to: [2] },
    { operation: 'fails', dependences: [1] },
  ];
  const paths = pathsOf(list);
  const set: SeenSet = { state: 'ready', hash: adjacencyHash(list), paths };
  let seen: SeenDiagnosis = {
    spec: { operationSet: 'a', nodeName: 'my-node' },
    status: {},
    hash: undefined,
    nodeName: 'my-node',
    set,
    whyMissing: (name) => (name === 'missing' ? 'Operation missing not found' : undefined),
    arrivalMs: 0,
    now: new Date(),
  };
  const saved: DiagnosisStatus[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const decision = decideNext(seen);
    if (decision.kind === 'wait' || decision.kind === 'ended') break;
    const status =
      decision.kind === 'save'
        ? decision.status
        : afterStep(seen.status, paths, { succeeded: false, message: 'it answered 204' }, seen.now);
    const hash = decision.kind === 'save' ? (decision.hash ?? seen.hash) : seen.hash;
    seen = { ...seen, status, hash };
    saved.push(status);
  }
  const good = afterStep(
    { checkpoint: { pathIndex: 1, nodeIndex: 0 } },
    paths,
    { succeeded: true, results: { 'a.b': 'c' } },
    new Date(),
  );
  expect(saved.at(-1)).toMatchObject({ phase: 'Failed', failedPaths: paths });
  const named = {
    fault: 'a-fault',
    finding: '3f9a1c',
    description: 'unmount /a',
    details: ['mount 216'],
  };
  const done = { state: 'done', endTime: '2026-01-02T03:04:05.678Z', journalEntry: 7 };
  const proof = [{ claim: 'it is deleted', text: '216 27 /a//deleted', origin: '/proc/8:4' }];
  const active = {
    fault: 'a-fault',
    state: 'active',
    reason: 'ItIsBroken',
    summary: 'It is broken.',
  };
  const recorded: DiagnosisStatus = {
    findings: [
      { ...active, id: '3f9a1c', subject: { mount: '/a' }, proof },
      { ...active, id: 'abcdef', subject: {}, proofNotListed: 2 },
    ],
    findingsNotListed: 1,
    plannedActions: [
      { kind: 'unmount', ...named, plan: '0123456789abcdef', digest: 'fedcba9876543210' },
    ],
    plannedActionsNotListed: 1,
    actions: [{ kind: 'unmount', ...named, ...done }],
    actionsNotListed: 1,
  };
  const name = ['diag', 'http-operation'];
  for (const status of [...saved, good, recorded]) {
    const patch = JSON.stringify([{ op: 'add', path: '/status', value: status }]);
    const args = ['--subresource=status', '--type=json', `--patch=${patch}`];
    await cluster.kubectl('patch', ...name, ...args);
    const stored = await cluster.kubectl('get', ...name, '-o=jsonpath={.status}');
    expect(JSON.parse(stored)).toEqual(status);
  }
});

it('is given what kubectl reads in a file, and we read the same', async () => {
  const args = ['yes', 'No', 'on', 'OFF', 'true', 'False', '010', '1_000', '1e3', '0x1f', '0o17'];
  const more = [
    '0644',
    '09',
    '-012',
    '+7',
    '.5',
    '1:30',
    '2015-07-17',
    '~',
    'null',
    'word',
    "'yes'",
    'y',
    'N',
  ];
  const fields = [...args, ...more].map((word, at) => `    k${at}: ${word}`).join('\n');
  const text = [
    'apiVersion: diagnosis.kubediag.org/v1',
    'kind: Operation',
    'metadata:',
    '  name: words',
    'spec:',
    '  processor: {path: /}',
    '  words:',
    fields,
    '',
  ].join('\n');
  // The API server would drop the field; what kubectl has read is shown without it.
  const shown = ['--dry-run=client', '--validate=ignore', '--output=json'];
  const { code, stdout, stderr } = await cluster.run(
    ['kubectl', 'create', '--filename=-', ...shown],
    { input: text },
  );
  expect(code, stderr).toBe(0);
  const { spec } = JSON.parse(stdout) as { readonly spec: object };
  const read = parseManifests(text).objects.map(({ value }) => value);
  expect(read).toMatchObject([{ spec }]);
});

/** The words of kubectl and of the server for what no rule of ours says. */
const FORM =
  /must (be of type|consist of|validate at least)|should (be|have)|Required value|Unsupported value|no matches for kind|invalid object|kind not set/;

it.each(badManifests)('refuses what our own check refuses: %s', async (_, value) => {
  const { problems } = checkResource(value);
  const { code, stderr } = await creationOf(value);
  expect(code).toBe(1);
  // A rule is written once, for us and for the server; of a mere form each has its own words.
  const isRule = problems.some(({ what, fix }) => stderr.includes(`${what}: ${fix}`));
  expect(isRule || FORM.test(stderr), stderr).toBe(true);
  // A person could not read it.
  expect(stderr).not.toMatch(/should match/);
});

it('refuses an invalid pattern with the error of Go', async () => {
  const regexp = { labels: { node: '(node1' } };
  const sourceTemplate = { prometheusAlertTemplate: { regexp } };
  const trigger = fixture('Trigger', { operationSet: 'set', sourceTemplate });
  expect(await refusalOf(trigger)).toContain(
    'regexp.labels[node]: Invalid value: "string": error parsing regexp: missing closing ): `(node1`',
  );
});

it('refuses a function without its file', async () => {
  const code = { runtime: 'Python3', codeSource: { 'main.py': '' } };
  const refusal = await refusalOf(fixture('Operation', { processor: { function: code } }));
  expect(refusal).toContain('there is no file function.py: define handler(context) in a file');
});

it.each([
  [
    'a step in the start node',
    [{ to: [1], operation: 'a' }, { operation: 'b' }],
    'is the start and runs nothing',
  ],
  ['a node without a step', [{ to: [1] }, {}], 'a node has no operation'],
  ['an edge into the start', [{ to: [1] }, { operation: 'a', to: [0] }], 'back to the first one'],
  ['an edge to nowhere', [{ to: [1] }, { operation: 'a', to: [7] }], 'a node that does not exist'],
  ['a self edge', [{ to: [1] }, { operation: 'a', to: [1] }], 'a node leads to itself'],
  ['a second start', [{ to: [1] }, { to: [1] }], 'a node has no operation'],
  ['no edge', [{}, { operation: 'a' }], 'the first node leads nowhere'],
  [
    'a cycle',
    [
      { to: [1] },
      { operation: 'a', to: [3] },
      { operation: 'b', to: [1] },
      { operation: 'c', to: [2] },
    ],
    'spec.adjacencyList: the graph has a cycle, nodes 1, 2, 3: remove one of their edges from "to"',
  ],
  [
    'nodes that nothing leads to',
    [{ to: [2] }, { operation: 'a' }, { operation: 'b' }, { operation: 'c', to: [1] }],
    'unreachable from the start node: 1, 3: add each to the "to" of another node, or remove it',
  ],
  [
    'a cycle of all the nodes that are checked',
    range(0, 32).map((at) => ({ to: [at === 31 ? 1 : at + 1], ...(at > 0 && { operation: 'a' }) })),
    'the graph has a cycle, nodes 1, 2, 3,',
  ],
  [
    'a node at the end that nothing leads to',
    range(0, 32).map((at) => ({ to: at < 30 ? [at + 1] : [], ...(at > 0 && { operation: 'a' }) })),
    'unreachable from the start node: 31: add',
  ],
])('refuses a graph with %s', async (_, adjacencyList, args) => {
  expect(await refusalOf(fixture('OperationSet', { adjacencyList }))).toContain(args);
});

it('takes a graph in which all earlier nodes lead to all later ones, and time for its check', async () => {
  const adjacencyList = range(0, 32).map((at) => ({
    to: range(at + 1, 32),
    ...(at > 0 && { operation: 'a' }),
  }));
  // A check that exceeds its cost limit would accept it too; with one more edge it has to be refused.
  const { code, stderr } = await creationOf(fixture('OperationSet', { adjacencyList }));
  expect(code, stderr).toBe(0);
  const wrong = adjacencyList.with(31, { to: [30], operation: 'a' });
  expect(await refusalOf(fixture('OperationSet', { adjacencyList: wrong }))).toContain(
    'the graph has a cycle, nodes 30, 31:',
  );
});

it('checks a graph and a path when they change, and not with every label', async () => {
  const name = ['opset', 'stored-before'];
  await withPolicies('delete');
  await cluster.apply({ ...CYCLE, metadata: { name: 'stored-before' } });
  await withPolicies('apply');
  await cluster.kubectl('label', ...name, 'team=storage');
  const patch = JSON.stringify([{ op: 'add', path: '/spec/adjacencyList/1/id', value: 1 }]);
  await expect(
    cluster.kubectl('patch', ...name, '--type=json', `--patch=${patch}`),
  ).rejects.toThrow('the graph has a cycle, nodes 1, 2:');
});

it.each([
  ['httpServer', { httpServer: { path: '/processor/podListColector?a=b' } }],
  ['the flat form', { path: '/processor/podListColector?a=b' }],
])('refuses a processor that agents do not have, in %s', async (_, processor) => {
  expect(await refusalOf(fixture('Operation', { processor }))).toContain(
    'the agent has no processor "/processor/podListColector?a=b", and no other server is named: choose one of "kubediag operations", or name your server in httpServer.address',
  );
});

it.each([
  ['an address', { httpServer: { path: '/mine', address: '10.0.0.1' } }],
  ['a port', { httpServer: { path: '/mine', port: 80 } }],
  ['an IP address in the flat form', { path: '/mine', externalIP: '10.0.0.1' }],
  ['a port in the flat form', { path: '/mine', externalPort: 80 }],
  ['a query', { path: '/processor/podListCollector?a=b' }],
])('takes the path of a server with %s', async (_, processor) => {
  const operation = fixture('Operation', { processor });
  expect(lintManifests([{ name: 'a', text: JSON.stringify(operation) }]).problems).toEqual([]);
  const { code, stderr } = await creationOf(operation);
  expect(code, stderr).toBe(0);
});

it('takes the largest graph that is allowed, and has time for its rules', async () => {
  const chain = Array.from({ length: 500 }, (_, id) => ({
    id,
    ...(id === 0 ? {} : { operation: `step-${id}` }),
    ...(id === 499 ? {} : { to: [id + 1] }),
  }));
  const layers = Array.from({ length: 200 }, (_, id) => ({
    id,
    ...(id === 0 ? {} : { operation: 'step' }),
    to: id === 0 ? range(1, 100) : id < 100 ? range(100, 200) : [],
  }));
  await cluster.apply(
    { ...fixture('OperationSet', { adjacencyList: chain }), metadata: { name: 'chain' } },
    { ...fixture('OperationSet', { adjacencyList: layers }), metadata: { name: 'layers' } },
  );
});

function fixture(kind: string, spec: object) {
  return { apiVersion: API_VERSION, kind, metadata: { name: 'wrong' }, spec };
}

/** Returns when the API server, which reads policies a moment later, has noticed. */
async function withPolicies(verb: 'apply' | 'delete') {
  const args = verb === 'apply' ? [] : ['--ignore-not-found'];
  const changed = await cluster.run(['kubectl', verb, '--filename=-', ...args], {
    input: POLICIES,
  });
  expect(changed.code, changed.stderr).toBe(0);
  const refused = verb === 'apply' ? 1 : 0;
  for (const value of [UNKNOWN_PROCESSOR, CYCLE]) {
    await vi.waitUntil(async () => (await creationOf(value)).code === refused, 30_000);
  }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

function creationOf(value: unknown) {
  const input = JSON.stringify(value);
  return cluster.run(['kubectl', 'create', '--dry-run=server', '--filename=-'], { input });
}

async function refusalOf(resource: object): Promise<string> {
  const { code, stderr } = await creationOf(resource);
  expect(code, JSON.stringify(resource)).toBe(1);
  expect(stderr).toContain('is invalid');
  return stderr;
}
