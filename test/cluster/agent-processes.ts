import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, killIfThere } from '../../lab/process-mark.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';
import type { SharedCluster } from './shared-cluster.ts';

const START_MS = 20_000;
export const METRICS = 'http://127.0.0.1:18090/metrics';

/** A program on the node that can be killed and started again. */
export interface NodeProcess {
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
  readonly log: () => string;
}

/**
 * Agent and executor as processes of the node, without pods: so they can be killed at any moment, and
 * a blocked kubelet matters to neither.
 */
export async function agentProcesses(
  cluster: SharedCluster,
  nodeName: string,
): Promise<{ readonly agent: NodeProcess; readonly executor: NodeProcess }> {
  const folder = join(cluster.scratch, 'agent-processes');
  await mkdir(folder, { recursive: true });
  const [socket, policy] = [join(folder, 'executor.sock'), join(folder, 'policy.yaml')];
  await writeFile(policy, '{}\n');
  const shared = [`--node-name=${nodeName}`, `--socket=${socket}`];
  const access = ['--listen=127.0.0.1:18090', `--kubeconfig=${cluster.kubeconfig}`];
  const state = [`--state-dir=${join(folder, 'state')}`, `--policy=${policy}`];
  return {
    agent: processOf(cluster, join(folder, 'agent.log'), ['agent', ...shared, ...access]),
    executor: processOf(cluster, join(folder, 'executor.log'), ['executor', ...shared, ...state]),
  };
}

/** The program that enters the namespaces starts ours as its child. */
async function startedBy(pid: number): Promise<number> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    const [child] = await childrenOf(pid);
    if (child !== undefined) return child;
    if (Date.now() > deadline) throw new Error(`process ${pid} has started no other`);
    await sleep(50);
  }
}

function processOf(cluster: SharedCluster, log: string, args: readonly string[]): NodeProcess {
  let running: { readonly pid: number; readonly exit: Promise<unknown> } | undefined;
  return {
    start: async () => {
      const output = openSync(log, 'a');
      const command = [...cluster.enter, EXECUTABLE, ...args];
      const child = spawn('env', command, { stdio: ['ignore', output, output] });
      closeSync(output);
      running = { exit: once(child, 'exit'), pid: await startedBy(child.pid ?? 0) };
    },
    kill: async () => {
      if (!running) return;
      killIfThere(running.pid);
      await running.exit;
      running = undefined;
    },
    log: () => readFileSync(log, 'utf8'),
  };
}
