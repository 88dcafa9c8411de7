import { setTimeout as sleep } from 'node:timers/promises';
import { killIfThere } from '../../../lab/process-mark.ts';
import { LEAD_SECONDS } from '../../../src/pipeline/kube/limits.ts';
import type { Part } from '../../../tools/cluster/part.ts';
import { type AgentRole, deployedProcesses } from '../deployed-processes.ts';
import type { SharedCluster } from '../shared-cluster.ts';
import { type CutWay, cutOff } from './cut-network.ts';
import { untilServed } from './diagnoses.ts';
import { CLOCK_MS, type ClockOf, setClock } from './fake-clocks.ts';
import { withFullEtcd } from './full-etcd.ts';
import { leaderOf, passLeadOn } from './leader.ts';

/** What is killed comes back after a second at most, as by systemd. */
const AWAY_MS = 1_000;
/** What stops goes on after so long; a container that does not answer for longer is restarted. */
const STOPPED_MS = 6_000;
const CUT_MS = 10_000;
const FULL_MS = 10_000;
const OFFSETS = ['+2h', '-2h', '+2d', '-10m'];
const WAYS: readonly CutWay[] = ['both ways', 'to the API server', 'from the API server'];

/** Something that happens to a part of the cluster at any moment, and is over some seconds later. */
export interface Disruption {
  readonly name: string;
  /** Ends when it is over, and says what it was; undefined: it has met nothing. */
  readonly disrupt: () => Promise<string | undefined>;
  /** Of a part of this node only. */
  readonly node?: string;
  /** Without the part, or with a wrong time, the node cannot be judged or changed. */
  readonly mayPrevent?: boolean;
  /** The times in the journal of a node are wrong. */
  readonly isOfClock?: boolean;
  /** The kubelet of the node must not hang then. */
  readonly endsKubelet?: boolean;
}

export interface DisruptionContext {
  readonly cluster: SharedCluster;
  readonly nodes: readonly string[];
  readonly random: () => number;
}

export function allDisruptions(context: DisruptionContext): readonly Disruption[] {
  return [
    ...context.nodes.flatMap((node) =>
      ofNode(context, node).map((disruption) => ({ ...disruption, node })),
    ),
    ...(['kube-apiserver', 'etcd'] as const).flatMap((name) =>
      ofPart(context, context.cluster.parts[name], name),
    ),
    ofFullEtcd(context),
    ...ofLeader(context),
  ];
}

function ofNode(context: DisruptionContext, node: string): readonly Disruption[] {
  const { parts } = context.cluster.node(node);
  return [
    ...(['agent', 'executor'] as const).flatMap((role) => ofProcess(context, node, role)),
    ...ofAgentPod(context, node),
    ...(['containerd', 'kubelet'] as const).flatMap((name) =>
      ofPart(context, parts[name], `${name} on ${node}`).map((disruption) => ({
        ...{ ...disruption, mayPrevent: true },
        ...(name === 'kubelet' ? { endsKubelet: true } : {}),
      })),
    ),
  ];
}

function ofFullEtcd({ cluster, random }: DisruptionContext): Disruption {
  return {
    name: 'etcd full',
    disrupt: async () => {
      const forMs = Math.round(random() * FULL_MS);
      await withFullEtcd(cluster, forMs);
      return `for ${forMs} ms`;
    },
  };
}

/** Of the two controllers, one leads. */
function ofLeader(context: DisruptionContext): readonly Disruption[] {
  const { cluster, nodes, random } = context;
  return [
    {
      name: 'leader killed',
      disrupt: async () => {
        const { pids } = await leaderOf(cluster);
        return endBySignal(context, pids);
      },
    },
    {
      name: 'both controllers killed',
      disrupt: async () => {
        const all = cluster.nodes.flatMap((node) => deployedProcesses(node, ['controller']));
        return endBySignal(context, all);
      },
    },
    {
      name: 'leader stopped for longer than its Lease',
      // The other one leads by then, and this one continues where it was.
      disrupt: async () => {
        const { pids } = await leaderOf(cluster);
        return stop(pids, LEAD_SECONDS * 1_000 + random() * STOPPED_MS);
      },
    },
    {
      name: 'pod of the leader deleted',
      disrupt: async () => {
        const { pod } = await leaderOf(cluster);
        const one = ['pod', pod, '--namespace=kubediag', '--ignore-not-found', '--wait=false'];
        return pod === '' ? undefined : deleted(cluster, one);
      },
    },
    {
      name: 'network of the leader cut',
      disrupt: async () => {
        const { node, podIp } = await leaderOf(cluster);
        return cutFor(context, node, podIp);
      },
    },
    { name: 'Lease of the leader passed on', disrupt: () => passLeadOn(cluster) },
    ...nodes.map((node) => ({
      name: `clock of controller on ${node} jumps`,
      disrupt: () => jump(context, node, 'controller'),
    })),
  ];
}

/** What came of a disruption. */
interface Happened {
  readonly text: string;
  readonly begunAt: number;
  readonly hasMet: boolean;
}

/** One after the other, each after a pause. */
export async function disruptOneByOne(
  cluster: SharedCluster,
  disruptions: readonly Disruption[],
  pause = async () => {},
): Promise<readonly Happened[]> {
  const happened: Happened[] = [];
  for (const { name, disrupt } of disruptions) {
    await pause();
    // The one before may have ended the API server, which many of them ask.
    if (happened.length > 0) await untilServed(cluster);
    const begunAt = performance.now();
    const what = await disrupt();
    const text = `${name} ${what ?? 'met nothing'}`.trim();
    happened.push({ text, begunAt, hasMet: what !== undefined });
  }
  return happened;
}

/** By a crash or by a request to end. The container starts it again. */
function endBySignal({ random }: DisruptionContext, pids: readonly number[]): string | undefined {
  if (pids.length === 0) return undefined;
  const signal = random() < 1 / 2 ? 'SIGKILL' : 'SIGTERM';
  for (const pid of pids) killIfThere(pid, signal);
  return signal;
}

function ofProcess(
  context: DisruptionContext,
  node: string,
  role: AgentRole,
): readonly Disruption[] {
  const { cluster, random } = context;
  const processes = () => deployedProcesses(cluster.node(node), [role]);
  return [
    {
      name: `${role} on ${node} killed`,
      disrupt: async () => endBySignal(context, processes()),
    },
    { name: `${role} on ${node} stopped`, disrupt: () => stop(processes(), random() * STOPPED_MS) },
    {
      name: `clock of ${role} on ${node} jumps`,
      disrupt: () => jump(context, node, role),
      mayPrevent: true,
      isOfClock: true,
    },
  ];
}

async function stop(pids: readonly number[], ms: number): Promise<string | undefined> {
  if (pids.length === 0) return undefined;
  for (const pid of pids) killIfThere(pid, 'SIGSTOP');
  await sleep(ms);
  for (const pid of pids) killIfThere(pid, 'SIGCONT');
  return `for ${Math.round(ms)} ms`;
}

/** To another time and, some seconds later, back. */
async function jump(context: DisruptionContext, node: string, name: ClockOf): Promise<string> {
  const { cluster, random } = context;
  const offset = OFFSETS[Math.floor(random() * OFFSETS.length)] ?? '+0';
  const forMs = CLOCK_MS + Math.round(random() * STOPPED_MS);
  await setClock(cluster, node, name, offset);
  await sleep(forMs);
  await setClock(cluster, node, name, '+0');
  await sleep(CLOCK_MS);
  return `by ${offset} for ${forMs} ms`;
}

function ofAgentPod(context: DisruptionContext, node: string): readonly Disruption[] {
  const { cluster } = context;
  const pods = [
    ...['pods', '--namespace=kubediag', '--selector=app.kubernetes.io/name=kubediag-agent'],
    `--field-selector=spec.nodeName=${node}`,
  ];
  return [
    {
      name: `agent pod on ${node} deleted`,
      // As an update of the DaemonSet does it.
      disrupt: () => deleted(cluster, [...pods, '--wait=false']),
    },
    {
      name: `network of agent on ${node} cut`,
      disrupt: async () => {
        // One that ends has a successor, perhaps without an address yet.
        const path = '-o=jsonpath={.items[?(@.status.phase=="Running")].status.podIP}';
        const [podIp = ''] = (await cluster.kubectl('get', ...pods, path)).split(' ').toReversed();
        return cutFor(context, node, podIp);
      },
    },
  ];
}

async function deleted(
  cluster: SharedCluster,
  which: readonly string[],
): Promise<string | undefined> {
  const output = await cluster.kubectl('delete', ...which);
  // pod "kubediag-agent-x7k2p" deleted
  return /" deleted/.test(output) ? '' : undefined;
}

async function cutFor(
  context: DisruptionContext,
  node: string,
  podIp: string,
): Promise<string | undefined> {
  const { cluster, random } = context;
  if (podIp === '') return undefined;
  const forMs = Math.round(random() * CUT_MS);
  const way = WAYS[Math.floor(random() * WAYS.length)] ?? 'both ways';
  const cut = await cutOff(cluster, node, podIp, way);
  await sleep(forMs);
  const { dropped } = await cut.heal();
  return dropped === 0 ? undefined : `${way} for ${forMs} ms, ${dropped} packets lost`;
}

function ofPart({ random }: DisruptionContext, part: Part, name: string): readonly Disruption[] {
  return [
    {
      name: `${name} killed`,
      disrupt: async () => {
        await part.stop('SIGKILL');
        const awayMs = Math.round(random() * AWAY_MS);
        await sleep(awayMs);
        await part.start();
        return `for ${awayMs} ms`;
      },
    },
    {
      name: `${name} stopped`,
      disrupt: async () => {
        const forMs = Math.round(random() * STOPPED_MS);
        part.pause();
        await sleep(forMs);
        part.resume();
        return `for ${forMs} ms`;
      },
    },
  ];
}
