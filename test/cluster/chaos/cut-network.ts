import { delimiter, join } from 'node:path';
import { nodePackages } from '../../../tools/cluster/node-packages.ts';
import type { SharedCluster } from '../shared-cluster.ts';

/** Both ways a packet goes between a pod and the API server, whether that is on another node or on this one. */
const RULES = {
  toServer: ['FORWARD', 'INPUT'].map((chain) => [chain, '--source', '--dport'] as const),
  fromServer: ['FORWARD', 'OUTPUT'].map((chain) => [chain, '--destination', '--sport'] as const),
};

/** Nobody hears of it: packets are dropped. One way leaves connections half open. */
export type CutWay = 'both ways' | 'to the API server' | 'from the API server';

interface Cut {
  /** Connects the pod again. */
  heal(): Promise<{ readonly dropped: number }>;
}

/** Cuts a pod off from the API server. */
export async function cutOff(
  cluster: SharedCluster,
  nodeName: string,
  podIp: string,
  way: CutWay,
): Promise<Cut> {
  const rules = [
    ...(way === 'from the API server' ? [] : RULES.toServer),
    ...(way === 'to the API server' ? [] : RULES.fromServer),
  ].map(([chain, address, port]) => [
    ...[chain, address, podIp, '--protocol', 'tcp'],
    ...[port, '6443', '--jump', 'DROP'],
  ]);
  const each = async (change: '--insert' | '--delete') => {
    for (const rule of rules) await iptables(cluster, nodeName, change, ...rule);
  };
  await each('--insert');
  const heal = async () => {
    const counters = await iptables(
      cluster,
      nodeName,
      '--list',
      '--verbose',
      '--numeric',
      '--exact',
    );
    await each('--delete');
    return { dropped: droppedOf(counters, podIp) };
  };
  return { heal };
}

/** The packets that the rules of this address have dropped. */
function droppedOf(counters: string, podIp: string): number {
  // 12 720 DROP tcp -- * * 10.244.1.4 0.0.0.0/0 tcp dpt:6443
  return counters
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words[2] === 'DROP' && words.includes(podIp))
    .reduce((sum, [packets]) => sum + Number(packets), 0);
}

async function iptables(
  cluster: SharedCluster,
  nodeName: string,
  ...args: readonly string[]
): Promise<string> {
  const packages = await nodePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const [libraries = ''] = packages.environment.LD_LIBRARY_PATH.split(delimiter).toReversed();
  const environment = { ...packages.environment, XTABLES_LIBDIR: join(libraries, 'xtables') };
  // As kube-proxy of the node does it, which holds the lock now and then.
  const command = ['iptables-nft', '--wait', '20', ...args];
  const { code, stdout, stderr } = await cluster.node(nodeName).run(command, { environment });
  if (code !== 0) throw new Error(`iptables ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}
