import { beforeAll, expect, it } from 'vitest';
import { faults } from '../../src/node/faults/index.ts';
import type { DiagnosisStatus } from '../../src/pipeline/api/diagnosis.ts';
import { builtIns } from '../../src/pipeline/operations/catalogue.ts';
import { stepsOf } from '../../src/pipeline/operations/fault-steps.ts';
import { install } from './installation.ts';
import { MIXED, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';
import { makeSickPod, type SickPod } from './sick-pod.ts';

/** An editor of one namespace, with every built-in OperationSet and Operation, and parameters that name another pod. */

const API = 'diagnosis.kubediag.org/v1';
const EDITOR = '--as=editor';
const SICK_MS = 600_000;
const SOON = { timeout: 240_000, interval: 1_000 };
const WORD = 'word-of-the-teller';

let cluster: SharedCluster;
let own: string;
let other: string;
let sick: SickPod;
let foreign: SickPod;
let markers: readonly string[];

interface PodObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly containerID?: string }[];
  };
}

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await install(cluster);
  // Without the policy of the executor in the way.
  const policy = 'actions: All\nscripts: Allow\nprofilers: Allow\n';
  const data = JSON.stringify({ data: { 'policy.yaml': policy } });
  const ours = '--namespace=kubediag';
  await cluster.kubectl('patch', 'configmap', 'kubediag-executor', ours, `--patch=${data}`);
  await cluster.kubectl('rollout', 'restart', 'daemonset/kubediag-agent', ours);
  await cluster.kubectl('rollout', 'status', 'daemonset/kubediag-agent', ours, '--timeout=120s');
  own = (await cluster.kubectl('config', 'view', '--minify', '-o=jsonpath={..namespace}')).trim();
  other = `${own}-bank`;
  const labels = { 'kubediag.test/shared': '' };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: other, labels } });
  const bank = await cluster.inNamespace(other);
  await bank.kubectl('wait', '--for=create', 'serviceaccount/default', '--timeout=60s');
  const rbac = 'rbac.authorization.k8s.io';
  await cluster.apply({
    ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name: 'editor' } },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'editor' }],
  });
  await bank.apply({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'teller' } },
    spec: {
      ...{ nodeName: OLD_NODE, terminationGracePeriodSeconds: 0 },
      containers: [
        {
          ...{ name: 'app', image: cluster.image, env: [{ name: 'WORD', value: WORD }] },
          command: ['sh', '-c', `sleep 86400; echo ${WORD}`],
        },
      ],
    },
  });
  await bank.kubectl('wait', '--for=condition=Ready', 'pod/teller', '--timeout=90s');
  sick = await makeSickPod(cluster, OLD_NODE, 'web');
  foreign = await makeSickPod(bank, OLD_NODE, 'vault');
  const { items } = JSON.parse(await bank.kubectl('get', 'pods', '-o=json')) as {
    readonly items: readonly PodObject[];
  };
  const ids = items.flatMap(({ metadata, status }) => {
    const containers = (status.containerStatuses ?? []).flatMap(({ containerID = '' }) =>
      containerID.replace('containerd://', '').slice(0, 12),
    );
    return [metadata.uid, metadata.uid.replaceAll('-', '_'), status.podIP ?? '', ...containers];
  });
  markers = [other, WORD, '"vault"', '"teller"', ...ids.filter((id) => id !== '')];
}, SICK_MS);

/** All that the author of a Diagnosis can say about a pod that is not theirs. */
function tricks(): Readonly<Record<string, string>> {
  const findings = JSON.stringify([{ id: 'abcdef', subject: { namespace: other, pod: 'vault' } }]);
  const uid = foreign.mount.split('/').at(-5) ?? '';
  const core = 'param.diagnoser.runtime.core_file_profiler';
  return {
    'collector.kubernetes.pod.detail': JSON.stringify({
      metadata: { namespace: other, name: 'vault', uid },
    }),
    'collector.system.mountinfo': 'x',
    'diagnoser.kubernetes.subpath_remount.original_destination_path': foreign.mount,
    'pod.namespace': other,
    'pod.name': 'vault',
    ...Object.fromEntries(faults.map((fault) => [stepsOf(fault).findings, findings])),
    [`${core}.type`]: 'coredump',
    [`${core}.filepath`]: '/var/lib/kubediag/corefile',
    'param.diagnoser.runtime.go_profiler.type': 'Heap',
    'param.diagnoser.runtime.go_profiler.source': 'http://127.0.0.1:10248',
    'param.diagnoser.runtime.tcpdump_profiler.expiration_seconds': '2',
  };
}

interface DiagnosisObject {
  readonly metadata: { readonly name: string };
  readonly spec: object;
  readonly status?: DiagnosisStatus;
}

async function createAsEditor(diagnoses: readonly object[], namespace = own): Promise<string> {
  const items = diagnoses.map((each) => ({ apiVersion: API, kind: 'Diagnosis', ...each }));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const words = ['kubectl', 'create', EDITOR, `--namespace=${namespace}`, '-f', '-'];
  const { stderr } = await cluster.run(words, { input, limitMs: 60_000 });
  return stderr;
}

async function ended(names: readonly string[]): Promise<readonly DiagnosisObject[]> {
  const all = async () => {
    const text = await cluster.kubectl('get', 'diagnoses', EDITOR, '-o=json');
    const { items } = JSON.parse(text) as { readonly items: readonly DiagnosisObject[] };
    return items.filter(({ metadata }) => names.includes(metadata.name));
  };
  const hasEnded = ({ status }: DiagnosisObject) => status?.result !== undefined;
  await expect.poll(async () => (await all()).filter(hasEnded).length, SOON).toBe(names.length);
  return all();
}

/** Large results and files, as the status says how to fetch them. */
async function fetched({ status }: DiagnosisObject): Promise<string> {
  const texts: string[] = [];
  for (const [, path = ''] of JSON.stringify(status).matchAll(/--raw '([^']+)'/g)) {
    texts.push(await cluster.kubectl('get', '--raw', path));
  }
  return texts.join('\n');
}

const podReference = () => ({ namespace: own, name: 'web' });

it('shows nothing of another pod, by any OperationSet, Operation or parameter', async () => {
  // The controller waits a minute for the pod of this one.
  const named = { podReference: { namespace: own, name: 'none' } };
  const none = {
    metadata: { name: 'none' },
    spec: { operationSet: 'any', ...named, recovery: 'Never' },
  };
  expect(await createAsEditor([none])).toBe('');
  const single = [...builtIns.operations.keys()].map((operation) => ({
    ...{ apiVersion: API, kind: 'OperationSet', metadata: { name: `only-${operation}` } },
    spec: {
      adjacencyList: [
        { id: 0, to: [1] },
        { id: 1, operation },
      ],
    },
  }));
  await cluster.apply(...single);
  const sets = [...single.map(({ metadata }) => metadata.name), ...builtIns.operationSets.keys()];
  const parameters = tricks();
  const diagnoses = sets.flatMap((operationSet) =>
    [{}, { parameters }].map((more, at) => ({
      metadata: { name: `${operationSet}-${at}` },
      spec: {
        ...{ operationSet, recovery: 'Approval', deadlineSeconds: 200 },
        ...{ podReference: podReference(), ...more },
      },
    })),
  );
  expect(await createAsEditor(diagnoses)).not.toMatch(/forbidden|invalid/i);
  // Those that found something of the own pod wait for an approval.
  const all = await ended(diagnoses.map(({ metadata }) => metadata.name));
  const results = new Map(all.map(({ metadata, status }) => [metadata.name, status?.result]));
  for (const diagnosis of all) {
    const text = JSON.stringify(diagnosis.status) + (await fetched(diagnosis));
    const given = JSON.stringify(diagnosis.spec);
    const shown = markers.filter((marker) => text.includes(marker) && !given.includes(marker));
    expect(shown, `${diagnosis.metadata.name}: ${text}`).toEqual([]);
    const { actions = [], plannedActions = [] } = diagnosis.status ?? {};
    expect(actions).toEqual([]);
    for (const { description = '' } of plannedActions) expect(description).toContain(sick.mount);
  }
  expect(results.get('stale-subpath-mount-0')).toBe('WaitingForApproval');
  expect(results.get('stale-subpath-mount-1')).toBe('WaitingForApproval');
  for (const name of ['mount-info', 'container', 'process', 'pod-list', 'pod-detail']) {
    expect(results.get(`only-${name}-collector-0`), name).toBe('Completed');
  }
  const table = await cluster.node(OLD_NODE).run(['cat', '/proc/1/mountinfo']);
  expect(table.stdout).toContain(foreign.mount);
}, 400_000);

it('a Diagnosis of the node shows the other pod: so the markers are there to be seen', async () => {
  await cluster.apply({
    ...{ apiVersion: API, kind: 'Diagnosis', metadata: { name: 'node' } },
    spec: { operationSet: 'only-mount-info-collector', nodeName: OLD_NODE, deadlineSeconds: 200 },
  });
  const [node] = await ended(['node']);
  if (!node) throw new Error('no Diagnosis');
  const text = JSON.stringify(node.status) + (await fetched(node));
  expect(markers.some((marker) => text.includes(marker))).toBe(true);
});

it('fails for a pod that does not exist', async () => {
  const [none] = await ended(['none']);
  expect(none?.status).toMatchObject({ phase: 'Failed' });
  expect(JSON.stringify(none?.status)).toContain('PodNotFound');
});

it('lets the editor choose neither a node nor a pod of another namespace', async () => {
  const spec = { operationSet: 'only-mount-info-collector', recovery: 'Never' };
  for (const target of [
    { nodeName: OLD_NODE },
    { nodeName: OLD_NODE, podReference: podReference() },
    { podReference: { namespace: other, name: 'vault' } },
    { targetSelector: { podReferences: [{ namespace: other, name: 'vault' }] } },
  ]) {
    const diagnosis = { metadata: { name: 'refused' }, spec: { ...spec, ...target } };
    expect(await createAsEditor([diagnosis])).toContain('the verb "diagnose"');
  }
});
