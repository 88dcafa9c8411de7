import { setTimeout as sleep } from 'node:timers/promises';
import { procFile } from '../../../lab/process-mark.ts';
import { CONTROLLER_LEASE } from '../../../src/pipeline/api/cluster-names.ts';
import { deployedProcesses } from '../deployed-processes.ts';
import type { SharedCluster } from '../shared-cluster.ts';

/** Each of two controllers tries every two seconds. */
const PASSED_ON_MS = 30_000;
const AGAIN_MS = 100;

const OURS = '--namespace=kubediag';
const PODS = ['pods', OURS, '--selector=app.kubernetes.io/name=kubediag-controller'];

export interface Leader {
  readonly pod: string;
  readonly node: string;
  readonly podIp: string;
  readonly pids: readonly number[];
}

/** The controller that leads, by the Lease. */
export async function leaderOf(cluster: SharedCluster): Promise<Leader> {
  const identity = await holderOf(cluster);
  // kubediag-controller-5b89896b96-d44xl_7_x1y2z3
  const [pod = ''] = identity.split('_');
  const fields = '-o=jsonpath={.spec.nodeName} {.status.podIP}';
  // It may have been deleted a moment ago, and its Lease be free.
  const answer = await cluster.run(['kubectl', 'get', 'pod', pod || '-', OURS, fields]);
  const [node = '', podIp = ''] = answer.stdout.split(' ');
  const pids = cluster.nodes
    .filter(({ name }) => name === node)
    .flatMap((each) => deployedProcesses(each, ['controller']))
    .filter((pid) => procFile(pid, 'environ').split('\0').includes(`POD_NAME=${pod}`));
  return { pod, node, podIp, pids };
}

async function ofLease(cluster: SharedCluster, field: string): Promise<string> {
  return cluster.kubectl('get', 'lease', CONTROLLER_LEASE, OURS, `-o=jsonpath={.spec.${field}}`);
}

const holderOf = (cluster: SharedCluster) => ofLease(cluster, 'holderIdentity');

/** When the leader has renewed its Lease, by its clock. */
export const leadRenewed = (cluster: SharedCluster) => ofLease(cluster, 'renewTime');

/**
 * Takes the Lease from the leader, until another controller has acquired it: the leader believes that
 * it leads until it renews the Lease.
 */
export async function passLeadOn(cluster: SharedCluster): Promise<string | undefined> {
  const leader = await holderOf(cluster);
  if (leader === '') return undefined;
  const patch = ['--type=merge', '--patch={"spec":{"holderIdentity":""}}'];
  const deadline = performance.now() + PASSED_ON_MS;
  while (performance.now() < deadline) {
    const holder = await holderOf(cluster);
    if (![leader, ''].includes(holder)) return `to ${holder}`;
    if (holder === leader)
      await cluster.kubectl('patch', 'lease', CONTROLLER_LEASE, OURS, ...patch);
    await sleep(AGAIN_MS);
  }
  return undefined;
}

/** Replaces controllers that were killed often: the kubelet would let the next ones wait for minutes. */
export async function replaceCrashed(cluster: SharedCluster): Promise<void> {
  const restarts = '{.metadata.name} {.status.containerStatuses[0].restartCount}{"\\n"}';
  const listed = `-o=jsonpath={range .items[*]}${restarts}{end}`;
  const lines = (await cluster.kubectl('get', ...PODS, listed)).split('\n');
  const crashed = lines
    .map((line) => line.split(' '))
    .filter(([, count]) => Number(count ?? 0) > 1)
    .map(([name = '']) => name);
  if (crashed.length === 0) return;
  await cluster.kubectl('delete', 'pod', OURS, ...crashed);
  const deployment = ['deployment/kubediag-controller', OURS, '--timeout=90s'];
  await cluster.kubectl('rollout', 'status', ...deployment);
}
