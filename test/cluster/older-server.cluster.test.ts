import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import type { Cluster } from '../../tools/cluster/cluster.ts';
import {
  LAST_WITH_STALE_SUBPATH,
  OLDEST_API_SERVER,
} from '../../tools/cluster/kubernetes-recipes.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';
import { type ClusterObjects, clusterObjects, settledObjects } from './cluster-state.ts';
import {
  commandsOf,
  installOnOlderServer,
  REMOVAL_PAGE,
  removalSteps,
  runCommands,
} from './installation.ts';
import { ownCluster } from './own-cluster.ts';
import { makeSickPod } from './sick-pod.ts';

/** The documented installation on a whole Kubernetes v1.29, with a node that is older still. */

const SOON = { timeout: 90_000, interval: 300 };
const NODES = ['older', 'oldest'];
/** Two lines of kubectl for each policy and each binding. */
const OF_POLICIES =
  /no matches for kind "ValidatingAdmissionPolicy|^ensure CRDs are installed first$/;

let cluster: Cluster;
let objectsBefore: ClusterObjects;

beforeAll(async () => {
  cluster = await ownCluster('older', {
    ...{ apiServer: OLDEST_API_SERVER, executable: EXECUTABLE },
    nodes: [
      { name: 'older', kubelet: OLDEST_API_SERVER },
      { name: 'oldest', kubelet: LAST_WITH_STALE_SUBPATH },
    ],
  });
  objectsBefore = await settledObjects(cluster);
  await installOnOlderServer(cluster);
});

afterAll(() => cluster.stop());

it('has an agent on each node, which reports the state of the node', async () => {
  const versions = await cluster.kubectl(
    'get',
    'nodes',
    '-o=jsonpath={range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion}{"\\n"}{end}',
  );
  expect(versions).toBe(`older ${OLDEST_API_SERVER}\noldest ${LAST_WITH_STALE_SUBPATH}\n`);
  const reports = () =>
    cluster.kubectl('get', 'nodereports', '-o=jsonpath={.items[*].metadata.name}');
  await expect.poll(reports, SOON).toBe(NODES.join(' '));
  const condition = '-o=jsonpath={.items[*].status.conditions[?(@.type=="NodeFault")].status}';
  await expect.poll(() => cluster.kubectl('get', 'nodes', condition), SOON).toBe('False False');
});

it.each(NODES)('runs a Diagnosis on node %s', async (nodeName) => {
  await cluster.apply({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name: nodeName },
    spec: { operationSet: 'stale-subpath-mount', nodeName },
  });
  const status = async () =>
    cluster.kubectl('get', 'diagnosis', nodeName, '-o=jsonpath={.status.phase} {.status.result}');
  await expect.poll(status, SOON).toBe('Failed NothingFound');
});

it('repairs no node until a person allows it without admission policies', async () => {
  await makeSickPod(cluster, 'oldest', 'sick');
  const diagnose = (name: string) =>
    cluster.apply({
      ...{ apiVersion: API_VERSION, kind: 'Diagnosis', metadata: { name } },
      spec: { operationSet: 'stale-subpath-mount', nodeName: 'oldest', recovery: 'Automatic' },
    });
  const condition = (kind: string, object: string, type: string) => {
    const fields = ['status', 'reason', 'message'].map(
      (field) => `{.status.conditions[?(@.type=="${type}")].${field}}`,
    );
    return cluster.kubectl('get', kind, object, `-o=jsonpath=${fields.join(' ')}`);
  };
  await expect
    .poll(() => condition('recoverypolicy', 'default', 'RightsEnforced'), SOON)
    .toMatch(/^False PoliciesNotServed API server v1[.]29[.]15 has no ValidatingAdmissionPolicy/);
  await diagnose('before');
  const result = '-o=jsonpath={.status.result} {.status.steps[*].message}';
  await expect
    .poll(() => cluster.kubectl('get', 'diagnosis', 'before', result), SOON)
    .toMatch(/^Refused .*ValidatingAdmissionPolicy.*withoutAdmissionPolicies/);
  const patch = '--patch={"spec":{"withoutAdmissionPolicies":"Allow"}}';
  await cluster.kubectl('patch', 'recoverypolicy', 'default', '--type=merge', patch);
  await expect
    .poll(() => condition('recoverypolicy', 'default', 'RecoveryPermitted'), SOON)
    .toMatch(/^True RecoveryPermitted /);
  await diagnose('after');
  const repaired = '-o=jsonpath={.status.phase} {.status.result}';
  await expect
    .poll(() => cluster.kubectl('get', 'diagnosis', 'after', repaired), SOON)
    .toBe('Succeeded Repaired');
  // Its container can start again.
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod/sick', '--timeout=90s');
  await cluster.kubectl('delete', 'pod/sick', 'configmap/settings');
});

it('is removed by the commands of the page, which report the policies as unknown kinds', async () => {
  const [agents = '', rest = ''] = await removalSteps();
  expect(await runCommands(cluster, agents)).toMatchObject({ code: 0, stderr: '' });
  const { code, stderr } = await runCommands(cluster, rest);
  expect(code).toBe(1);
  const others = stderr.split('\n').filter((line) => !OF_POLICIES.test(line));
  expect(others).toEqual(['']);
  const untilGone = await commandsOf(REMOVAL_PAGE, 'kubectl wait --for=delete namespace');
  expect(await runCommands(cluster, untilGone)).toMatchObject({ code: 0, stderr: '' });
  await expect.poll(() => clusterObjects(cluster), SOON).toEqual(objectsBefore);
});
