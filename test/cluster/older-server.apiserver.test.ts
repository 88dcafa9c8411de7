import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runAgent } from '../../src/hosts/agent/agent.ts';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { objectAt } from '../../src/pipeline/kube/objects.ts';
import { withoutSelectableFields } from '../../src/pipeline/kube/older-server.ts';
import { decideRecovery } from '../../src/pipeline/recovery/decide-recovery.ts';
import { policyIn } from '../../src/pipeline/recovery/seen-policy.ts';
import {
  describeStoreWithoutFields,
  newDiagnosis,
} from '../../src/pipeline/store/store-contract.ts';
import { findBinaries } from '../../tools/cluster/binaries.ts';
import { OLDEST_API_SERVER } from '../../tools/cluster/kubernetes-recipes.ts';
import { type ApiServer, startApiServer } from '../rig/api-server.ts';
import { createNamespace, kubeconfigOf } from '../rig/controller-here.ts';
import { controllerProcess } from '../rig/controller-process.ts';
import { type Ended, runProgram } from '../rig/run-kubediag.ts';

/** What works on an API server without admission policies and selectable fields, and what is said there. */

const EXECUTOR = join(import.meta.dirname, '../rig/channel-executor.ts');
const DEPLOY = join(import.meta.dirname, '../../deploy');
const WAIT = { timeout: 60_000, interval: 100 };

let api: ApiServer;
let folder = '';

beforeAll(async () => {
  api = await startApiServer({ version: OLDEST_API_SERVER });
  folder = await mkdtemp(join(tmpdir(), 'kubediag-older-'));
  await writeFile(join(folder, 'kubeconfig'), kubeconfigOf(api));
});

afterAll(async () => {
  await api.stop();
  await rm(folder, { recursive: true });
});

async function kubectl(...args: readonly string[]): Promise<Ended> {
  const binaries = await findBinaries({ mayBuild: false });
  if ('missing' in binaries) throw new Error(binaries.missing);
  const environment = { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };
  return runProgram([binaries.kubectl, ...args], { environment });
}

const NOT_SERVED =
  /^\[?(?:ensure CRDs are installed first, )?resource mapping not found for name: "(?<name>\S+)" .* no matches for kind "(?<kind>\w+)" in version "\S+"$/;
// A line for each object of an unknown kind, of kubectl itself.
const NOT_VALIDATED = /schema.go:\d+\] cannot perform warn validation/;

/** What kubectl wrote besides that it is newer than the server, and that CRDs should be installed. */
function errorsIn({ stderr }: Ended): { readonly kinds: Set<string>; readonly others: string[] } {
  const kinds = new Set<string>();
  const others: string[] = [];
  for (const line of stderr.trim().split('\n')) {
    const kind = NOT_SERVED.exec(line)?.groups?.kind;
    if (kind) kinds.add(kind);
    else if (!NOT_VALIDATED.test(line) && !/^ensure CRDs|^Warning: version difference/.test(line)) {
      others.push(line);
    }
  }
  return { kinds, others };
}

const POLICIES = new Set(['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']);

/** As the kube-controller-manager, which does not run here. */
async function finalizeNamespace(): Promise<void> {
  const path = `/api/v1/namespaces/${NAMESPACE}`;
  const namespace = (await objectAt(api.client, path)) as object;
  const body = { ...namespace, spec: { finalizers: [] } };
  await api.client.request({ method: 'PUT', path: `${path}/finalize`, body });
}

describeStoreWithoutFields(`API server ${OLDEST_API_SERVER}`, async () => {
  await api.clear();
  return withoutSelectableFields(kubeStore(api.client), () => {});
});

/** A real agent of node-1, whose executor runs no real step. */
async function startAgent(): Promise<{ readonly messages: readonly string[] }> {
  await createNamespace(api);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } };
  await api.client.request({ method: 'POST', path: '/api/v1/nodes', body: node });
  const socketPath = join(folder, 'executor.sock');
  const stop = new AbortController();
  const messages: string[] = [];
  const started = Promise.withResolvers<unknown>();
  const running = runAgent(
    {
      ...{ nodeName: 'node-1', socketPath, host: '127.0.0.1', port: 0, version: '0.1.0' },
      kubeconfig: join(folder, 'kubeconfig'),
      pod: { namespace: NAMESPACE, name: undefined },
    },
    stop.signal,
    { onStart: started.resolve, onMessage: (message) => messages.push(message) },
  );
  const failed = running.then((failure) => Promise.reject(new Error(failure?.why ?? 'ended')));
  await Promise.race([started.promise, failed]);
  const log = join(folder, 'executor.log');
  const executor = spawn(process.execPath, [EXECUTOR, socketPath, log], { stdio: 'inherit' });
  onTestFinished(async () => {
    stop.abort();
    await failed.catch(() => {});
    executor.kill('SIGKILL');
    await once(executor, 'close');
  });
  return { messages };
}

test('an agent runs the Diagnoses of its node, writes nothing for others, and says what is missing', async () => {
  await api.clear();
  const store = kubeStore(api.client);
  const set = { adjacencyList: [{ to: [1] }, { operation: 'wait' }] };
  const processor = { scriptRunner: { script: 'true' }, timeoutSeconds: 30 };
  const of = { apiVersion: API_VERSION } as const;
  await store.create({ ...of, kind: 'Operation', metadata: { name: 'wait' }, spec: { processor } });
  await store.create({ ...of, kind: 'OperationSet', metadata: { name: 'some' }, spec: set });
  const other = await store.create(newDiagnosis('other', { nodeName: 'node-2' }));
  const before = await store.create(newDiagnosis('before'));
  const { messages } = await startAgent();
  const phase = async ({ metadata: { name } }: typeof before) =>
    (await store.get({ kind: 'Diagnosis', namespace: 'default', name }))?.status?.phase;
  await expect.poll(() => phase(before), WAIT).toBe('Succeeded');
  const after = await store.create(newDiagnosis('after'));
  await expect.poll(() => phase(after), WAIT).toBe('Succeeded');
  const key = { kind: 'Diagnosis', namespace: 'default', name: 'other' } as const;
  expect((await store.get(key))?.metadata.resourceVersion).toBe(other.metadata.resourceVersion);
  expect(messages).toContainEqual(
    expect.stringMatching(/field label not supported.*; watching the objects of all nodes instead/),
  );
  const leases = await api.client.request({
    method: 'GET',
    path: `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`,
  });
  const holders = listAt(leases, 'items')?.map((lease) => textAt(lease, 'spec', 'holderIdentity'));
  expect(holders).toEqual(['node-1']);
});

test('a controller says which rights are not enforced, and permits repairs when a person allows them', async () => {
  await api.clear();
  await createNamespace(api);
  const controller = await controllerProcess(api);
  onTestFinished(() => controller.end('SIGTERM'));
  const path = `/apis/${API_VERSION}/recoverypolicies/default`;
  const policy = async () => policyIn(await objectAt(api.client, path));
  const decision = async () =>
    decideRecovery({
      policy: await policy(),
      slotFailures: [],
      createdAt: undefined,
      now: new Date(),
    });
  await expect.poll(decision, WAIT).toMatchObject({
    permitted: false,
    reason: 'RightsNotEnforced',
    name: expect.stringMatching(
      /v1[.]29[.]15 has no ValidatingAdmissionPolicy.* no selectable fields/,
    ),
  });
  const status = fieldAt(await objectAt(api.client, path), 'status');
  expect(fieldAt(status, 'conditions')).toContainEqual(
    expect.objectContaining({ type: 'RightsEnforced', status: 'False' }),
  );
  await api.client.request({
    ...{ method: 'PATCH', path, contentType: 'application/merge-patch+json' },
    body: { spec: { withoutAdmissionPolicies: 'Allow' } },
  });
  await expect.poll(decision, WAIT).toMatchObject({ permitted: true });
});

const UNKNOWN_FIELDS = [
  'spec.versions[0].selectableFields',
  'spec.template.spec.containers[1].securityContext.appArmorProfile',
];

// The last one: it deletes our kinds.
test('kubectl apply --validate=warn installs all but the policies, and kubectl delete removes it', async () => {
  const { stdout: version } = await kubectl('version');
  expect(version).toContain(`Server Version: ${OLDEST_API_SERVER}`);
  await kubectl('delete', '-f', join(DEPLOY, 'crds'));
  await kubectl('delete', '--wait=false', 'namespace', NAMESPACE);
  await finalizeNamespace();
  const manifest = join(DEPLOY, 'kubediag.yaml');
  const all = await kubectl('apply', '--validate=warn', '-f', manifest);
  // Because of the unknown kinds.
  expect(all.code).toBe(1);
  const warnings = UNKNOWN_FIELDS.map((field) => `Warning: unknown field "${field}"`);
  expect(errorsIn(all)).toEqual({ kinds: POLICIES, others: warnings });
  await api.ready();
  const dry = await kubectl('create', '--dry-run=client', '-o', 'name', '-f', manifest);
  const names = dry.stdout.trim().split('\n');
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) expect(all.stdout).toContain(`${name} created`);
  const daemonSet = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/kubediag-agent`;
  const template = fieldAt(await objectAt(api.client, daemonSet), 'spec', 'template');
  // It stands for the field that the server does not know.
  expect(fieldAt(template, 'metadata', 'annotations')).toMatchObject({
    'container.apparmor.security.beta.kubernetes.io/executor': 'unconfined',
  });
  const again = await kubectl('apply', '--validate=warn', '-f', manifest);
  expect(again.stdout).not.toMatch(/ created$/m);
  const deleted = await kubectl('delete', '--wait=false', '-f', manifest);
  expect(errorsIn(deleted)).toEqual({ kinds: POLICIES, others: [] });
  const left = await kubectl('get', '--ignore-not-found', '-o', 'name', ...names);
  expect(left.stdout).toBe(`namespace/${NAMESPACE}\n`);
});
