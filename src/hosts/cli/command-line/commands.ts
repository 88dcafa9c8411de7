import type { CommandGroup, CommandSpec } from '../../../lib/terminal/command-spec.ts';
import type { RunAgent } from '../commands/agent.ts';
import type { RunController } from '../commands/controller.ts';
import type { RunExecutor } from '../commands/executor.ts';
import type { Serve } from '../commands/serve.ts';
import { agentCommands } from './agent-commands.ts';
import { clusterCommands } from './cluster-commands.ts';
import { firstCommands, nodeCommands } from './node-commands.ts';
import { evidenceCommands, manifestCommands, otherCommands } from './offline-commands.ts';

/** What only `main` can reach, loaded when it is used. */
export interface OtherHosts {
  readonly serve: () => Promise<Serve>;
  readonly agent: () => Promise<RunAgent>;
  readonly executor: () => Promise<RunExecutor>;
  readonly controller: () => Promise<RunController>;
  readonly lab: () => Promise<readonly CommandSpec[]>;
}

/** Commands under one heading of the help. */
export interface CommandSection {
  readonly title: string;
  readonly commands: readonly (CommandSpec | CommandGroup)[];
}

/** Its commands are those of the lab; this much is known without loading it. */
const LAB = {
  name: 'lab',
  summary: 'Practise on a node in namespaces of this machine: break it, find the fault, repair it',
  examples: [
    ['See each fault made, found and repaired', 'kubediag lab tour'],
    [
      'Create a practice node and break it',
      'kubediag lab up && kubediag lab break stale-subpath-mount',
    ],
    ['Check it', 'kubediag lab run kubediag check'],
  ],
  exitCodes: { 0: 'done', 3: 'refused, with the reason' },
} as const;

/** The whole command line. Parser, help, completion and the reference page are derived from it. */
export function commandSections(
  hosts: Omit<OtherHosts, 'lab'>,
  labCommands: readonly CommandSpec[],
): readonly CommandSection[] {
  return [
    { title: 'On a faulty node', commands: firstCommands },
    { title: 'Find out more on a node', commands: nodeCommands },
    { title: 'Judge evidence of another machine', commands: evidenceCommands },
    { title: 'Run Diagnoses without an agent', commands: manifestCommands },
    { title: 'Run and use an agent', commands: agentCommands(hosts.serve) },
    { title: 'Run in the pods of a cluster', commands: clusterCommands(hosts) },
    { title: 'Practise', commands: [{ ...LAB, members: labCommands }] },
    { title: 'Other', commands: otherCommands },
  ];
}
