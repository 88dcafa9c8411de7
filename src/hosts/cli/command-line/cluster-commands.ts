import { type CommandSpec, command, option } from '../../../lib/terminal/command-spec.ts';
import type { RunAgent } from '../commands/agent.ts';
import type { RunController } from '../commands/controller.ts';
import type { RunExecutor } from '../commands/executor.ts';
import { NODE_OPTIONS, STATE_DIR } from './shared-options.ts';

const KUBECONFIG = option(
  '--kubeconfig <FILE>',
  'how to reach the API server (default: the account of the pod)',
  { names: 'file' },
);

/** `main` loads the agent: the command line must not reach a cluster by itself. */
function agent(loadAgent: () => Promise<RunAgent>): CommandSpec {
  return command({
    name: 'agent',
    summary: 'Run the Diagnoses of one node of a cluster; the executor does the work on the node',
    options: [
      option('--node-name <NODE>', 'the name of the node', { isRequired: true }),
      option('--socket <SOCKET>', 'Unix socket on which the executor connects', {
        isRequired: true,
      }),
      option(
        '--listen <ADDRESS:PORT>',
        'the address for probes, metrics and large results; ":PORT" is every address',
        {
          default: ':8090',
        },
      ),
      KUBECONFIG,
    ],
    examples: [
      [
        'Run in a pod, with its service account',
        'kubediag agent --node-name web-3 --socket /run/kubediag/executor.sock',
      ],
      [
        'Run outside of the cluster',
        'kubediag agent --node-name web-3 --socket /run/executor.sock --listen 127.0.0.1:8090 --kubeconfig admin.conf',
      ],
    ],
    exitCodes: { 0: 'stopped by a signal', 3: 'the agent could not start' },
    load: async () => {
      const { agentHere } = await import('../commands/agent.ts');
      const run = await loadAgent();
      return (_words, options, terminal) => agentHere(options, terminal, run);
    },
  });
}

/** Loaded by `main` too. */
function executor(loadExecutor: () => Promise<RunExecutor>): CommandSpec {
  return command({
    name: 'executor',
    summary: 'Check and repair this node for the agent of a cluster, within a policy',
    options: [
      option('--socket <SOCKET>', 'Unix socket on which the agent listens', { isRequired: true }),
      option('--policy <FILE>', 'YAML file that says what is permitted', { isRequired: true }),
      option('--node-name <NODE>', 'refuse Diagnoses of other nodes (default: not compared)'),
      STATE_DIR,
      ...NODE_OPTIONS,
    ],
    examples: [
      [
        'Run beside an agent, in a container with the root of the node at /host',
        'kubediag executor --socket /run/kubediag/executor.sock --policy /etc/kubediag/policy.yaml --host-root /host',
      ],
      [
        'Run on the node itself, for one node name only',
        'kubediag executor --socket /run/kubediag/executor.sock --policy policy.yaml --node-name web-3',
      ],
    ],
    exitCodes: { 0: 'stopped by a signal', 3: 'the executor could not start' },
    needsRoot: true,
    load: async () => {
      const { executeHere } = await import('../commands/executor.ts');
      const run = await loadExecutor();
      return (_words, options, terminal) => executeHere(options, terminal, run);
    },
  });
}

/** Loaded by `main` too. */
function controller(loadController: () => Promise<RunController>): CommandSpec {
  return command({
    name: 'controller',
    summary: 'Assign the Diagnoses of a cluster to nodes, and limit repairs',
    options: [
      option(
        '--listen <ADDRESS:PORT>',
        'the address for probes and metrics; ":PORT" is every address',
        { default: ':8091' },
      ),
      KUBECONFIG,
    ],
    examples: [
      ['Run in a pod, with its service account', 'kubediag controller'],
      [
        'Run outside of the cluster',
        'kubediag controller --listen 127.0.0.1:8091 --kubeconfig admin.conf',
      ],
    ],
    exitCodes: { 0: 'stopped by a signal', 3: 'the controller could not start' },
    load: async () => {
      const { controlHere } = await import('../commands/controller.ts');
      const run = await loadController();
      return (_words, options, terminal) => controlHere(options, terminal, run);
    },
  });
}

/** What the pods of an installation run. */
export function clusterCommands(hosts: {
  readonly agent: () => Promise<RunAgent>;
  readonly executor: () => Promise<RunExecutor>;
  readonly controller: () => Promise<RunController>;
}): readonly CommandSpec[] {
  return [agent(hosts.agent), executor(hosts.executor), controller(hosts.controller)];
}
