import { setTimeout as sleep } from 'node:timers/promises';
import { killIfThere } from '../../../lab/process-mark.ts';
import { LEAD_SECONDS } from '../../../src/pipeline/kube/limits.ts';
import type { Part } from '../../../tools/cluster/part.ts';
import { type AgentRole, deployedProcesses } from '../deployed-processes.ts';
import type { SharedCluster } from '../shared-cluster.ts';
import { type CutWay, cutOff } from './cut-network.ts';
import { CLOCK_MS, type ClockOf, setClock } from './fake-clocks.ts';
import { withFullEtcd } from './full-etcd.ts';
import { leaderOf } from './leader.ts';

/** What is killed comes back after a second at most, as by systemd. */
const AWAY_MS = 1_000;
/** What stops goes on after so long; a container that does not answer for longer is restarted. */
const STOPPED_MS = 6_000;
const CUT_MS = 10_000;
const FULL_MS = 10_000;
const OFFSETS = ['+2h', '-2h', '+2d', '-10m'];
const WAYS: readonly CutWay[] = ['both ways', 'to the API server', 'from the API server'];

/** Something that happens to a part of the cluster at any moment, and is over some seconds later. */
export interface Strike {
  readonly name: string;
  /** Comes back when it is over, and says what it was. */
  readonly strike: () => Promise<string>;
  /** Without the part, or with a wrong time, the node cannot be judged or changed. */
  readonly mayPrevent?: boolean;
  /** The times in the journal of a node are wrong. */
  readonly isOfClock?: boolean;
  /** Ends the kubelet of this node, which must not hang then. */
  readonly kubeletOf?: string;
}

export interface StrikeContext {
  readonly cluster: SharedCluster;
  readonly nodes: readonly string[];
  readonly random: () => number;
}

export function allStrikes(context: StrikeContext): readonly Strike[] {
  return [
    ...context.nodes.flatMap((node) => [
      ...(['agent', 'executor'] as const).flatMap((role) => ofProcess(context, node, role)),
      ...ofAgentPod(context, node),
      ...(['containerd', 'kubelet'] as const).flatMap((name) => {
        const part = context.cluster.node(node).parts[name];
        const kubeletOf = name === 'kubelet' ? { kubeletOf: node } : {};
        return ofPart(context, part, `${name} on ${node}`).map((strike) => ({
          ...strike,
          ...kubeletOf,
          mayPrevent: true,
        }));
      }),
    ]),
    ...(['kube-apiserver', 'etcd'] as const).flatMap((name) =>
      ofPart(context, context.cluster.parts[name], name),
    ),
    ofFullEtcd(context),
    ...ofLeader(context),
  ];
}

function ofFullEtcd({ cluster, random }: StrikeContext): Strike {
  return {
    name: 'etcd full',
    strike: async () => {
      const forMs = Math.round(random() * FULL_MS);
      await withFullEtcd(cluster, forMs);
      return `for ${forMs} ms`;
    },
  };
}

/** Of the two controllers, one leads. */
function ofLeader(context: StrikeContext): readonly Strike[] {
  const { cluster, nodes, random } = context;
  return [
    {
      name: 'leader killed',
      strike: async () => {
        const { pids } = await leaderOf(cluster);
        return endBySignal(context, pids);
      },
    },
    {
      name: 'both controllers killed',
      strike: async () => {
        const all = cluster.nodes.flatMap((node) => deployedProcesses(node, ['controller']));
        return endBySignal(context, all);
      },
    },
    {
      name: 'leader stopped for longer than its Lease',
      // The other one leads by then, and this one continues where it was.
      strike: async () => {
        const { pids } = await leaderOf(cluster);
        return stop(pids, LEAD_SECONDS * 1_000 + random() * STOPPED_MS);
      },
    },
    {
      name: 'pod of the leader deleted',
      strike: async () => {
        const { pod } = await leaderOf(cluster);
        const one = ['pod', pod, '--namespace=kubediag', '--ignore-not-found', '--wait=false'];
        if (pod !== '') await cluster.kubectl('delete', ...one);
        return '';
      },
    },
    {
      name: 'network of the leader cut',
      strike: async () => {
        const { node, podIp } = await leaderOf(cluster);
        return podIp === '' ? 'nobody leads' : cutFor(context, node, podIp);
      },
    },
    ...nodes.map((node) => ({
      name: `clock of controller on ${node} jumps`,
      strike: () => jump(context, node, 'controller'),
    })),
  ];
}

/** By a crash or by a request to end. The container starts it again. */
function endBySignal({ random }: StrikeContext, pids: readonly number[]): string {
  const signal = random() < 1 / 2 ? 'SIGKILL' : 'SIGTERM';
  for (const pid of pids) killIfThere(pid, signal);
  return signal;
}

function ofProcess(context: StrikeContext, node: string, role: AgentRole): readonly Strike[] {
  const { cluster, random } = context;
  const processes = () => deployedProcesses(cluster.node(node), [role]);
  return [
    {
      name: `${role} on ${node} killed`,
      strike: async () => endBySignal(context, processes()),
    },
    { name: `${role} on ${node} stopped`, strike: () => stop(processes(), random() * STOPPED_MS) },
    {
      name: `clock of ${role} on ${node} jumps`,
      strike: () => jump(context, node, role),
      mayPrevent: true,
      isOfClock: true,
    },
  ];
}

async function stop(pids: readonly number[], ms: number): Promise<string> {
  for (const pid of pids) killIfThere(pid, 'SIGSTOP');
  await sleep(ms);
  for (const pid of pids) killIfThere(pid, 'SIGCONT');
  return `for ${Math.round(ms)} ms`;
}

/** To another time and, some seconds later, back. */
async function jump(context: StrikeContext, node: string, name: ClockOf): Promise<string> {
  const { cluster, random } = context;
  const offset = OFFSETS[Math.floor(random() * OFFSETS.length)] ?? '+0';
  const forMs = CLOCK_MS + Math.round(random() * STOPPED_MS);
  await setClock(cluster, node, name, offset);
  await sleep(forMs);
  await setClock(cluster, node, name, '+0');
  await sleep(CLOCK_MS);
  return `by ${offset} for ${forMs} ms`;
}

function ofAgentPod(context: StrikeContext, node: string): readonly Strike[] {
  const { cluster } = context;
  const pods = [
    ...['pods', '--namespace=kubediag', '--selector=app.kubernetes.io/name=kubediag-agent'],
    `--field-selector=spec.nodeName=${node}`,
  ];
  return [
    {
      name: `agent pod on ${node} deleted`,
      // As an update of the DaemonSet does it.
      strike: async () => {
        await cluster.kubectl('delete', ...pods, '--wait=false');
        return '';
      },
    },
    {
      name: `network of agent on ${node} cut`,
      strike: async () => {
        const path = '-o=jsonpath={.items[0].status.podIP}';
        return cutFor(context, node, await cluster.kubectl('get', ...pods, path));
      },
    },
  ];
}

async function cutFor(context: StrikeContext, node: string, podIp: string): Promise<string> {
  const { cluster, random } = context;
  const forMs = Math.round(random() * CUT_MS);
  const way = WAYS[Math.floor(random() * WAYS.length)] ?? 'both ways';
  const { heal } = await cutOff(cluster, node, podIp, way);
  await sleep(forMs);
  await heal();
  return `${way} for ${forMs} ms`;
}

function ofPart({ random }: StrikeContext, part: Part, name: string): readonly Strike[] {
  return [
    {
      name: `${name} killed`,
      strike: async () => {
        await part.stop('SIGKILL');
        const awayMs = Math.round(random() * AWAY_MS);
        await sleep(awayMs);
        await part.start();
        return `for ${awayMs} ms`;
      },
    },
    {
      name: `${name} stopped`,
      strike: async () => {
        const forMs = Math.round(random() * STOPPED_MS);
        part.pause();
        await sleep(forMs);
        part.resume();
        return `for ${forMs} ms`;
      },
    },
  ];
}
