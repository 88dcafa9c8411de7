import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SIMULATED_LABEL } from '../../rig/simulated-agents.ts';
import type { FleetRequest, FleetRuns } from '../../rig/simulated-fleet-process.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const PROCESS = join(import.meta.dirname, '../../rig/simulated-fleet-process.ts');

/** Nodes of a cluster without a kubelet, each with an agent whose steps are simulated. */
export interface SimulatedFleet {
  ask(request: Exclude<FleetRequest, { readonly what: 'runs' }>): Promise<void>;
  runs(): Promise<FleetRuns>;
  /** Ends the agents and deletes their Nodes. */
  stop(): Promise<void>;
}

/**
 * Starts the process of the agents in the network of the first node, because the API server of a cluster
 * cannot be reached from outside. The Nodes have no label "kubernetes.io/os", which a kubelet sets and
 * both the DaemonSet and the Deployment select: no pod is placed on them.
 */
export function startSimulatedFleet(cluster: SharedCluster, count: number): SimulatedFleet {
  const words = [process.execPath, PROCESS, cluster.kubeconfig, String(count)];
  const child = spawn('env', [...cluster.enter, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  child.stdin.on('error', () => {}); // Its end is reported below.
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const answerTo = async (request: FleetRequest): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { done, value } = await lines.next();
    if (done) throw new Error('the process of the simulated agents has ended');
    return JSON.parse(value);
  };
  // Answers come in the order of the requests.
  const ask = (request: FleetRequest): Promise<unknown> => {
    const answer = last.then(() => answerTo(request));
    last = answer.catch(() => undefined);
    return answer;
  };
  return {
    ask: async (request) => void (await ask(request)),
    runs: async () => (await ask({ what: 'runs' })) as FleetRuns,
    stop: async () => {
      child.stdin.end();
      await exit;
      const selector = encodeURIComponent(SIMULATED_LABEL);
      await cluster.kubectl('delete', '--raw', `/api/v1/nodes?labelSelector=${selector}`);
    },
  };
}
