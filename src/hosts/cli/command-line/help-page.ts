import { Command } from 'commander';
import { EXIT_MEANINGS } from '../../../lib/terminal/exit-codes.ts';
import { AGENT_HELP } from './agent-help.ts';
import type { CommandHelp } from './command-help.ts';
import { LAB_HELP } from './lab-help.ts';
import { NODE_HELP } from './node-help.ts';

/** The commands beside the four of the first page, by what somebody wants to do. */
export const COMMAND_GROUPS = {
  node: 'Find out more on a node',
  evidence: 'Judge evidence of another machine',
  manifests: 'Run Diagnoses without an agent',
  agent: 'Run and use an agent',
  practice: 'Practise',
  other: 'Other',
} as const;

/** Options of every command, in the words of every help page; each fits into a line of the first. */
export const GLOBAL_OPTIONS = {
  quiet: 'print only the answer: no progress, no hints',
  verbose: 'print every finding in full, and what was asked of the node',
} as const;

const PURPOSE = 'KubeDiag finds faults of a Kubernetes node, shows the proof, and repairs them.';

/** What somebody on a sick node needs, in the order in which they need it. */
const FIRST = [
  ['kubediag check', 'check this node: what is wrong, and why'],
  ['kubediag explain FAULT', 'explain a fault, or find one by an error text'],
  ['kubediag recover', 'repair what was found: shows the plan and asks first'],
  ['kubediag bundle', 'record the evidence in a file, to judge it elsewhere'],
] as const;

const COMMAND_COLUMNS = 25;
const GROUP_COLUMNS = 36;
const PAGE_COLUMNS = 80;

/** The program. Its help is the page that somebody on a sick node needs; `--all` has the rest. */
export class Program extends Command {
  override helpInformation(): string {
    return firstPage(this);
  }

  /** Every command with its description, in groups. */
  allCommands(): string {
    return super.helpInformation();
  }
}

function firstPage(program: Command): string {
  const groups = Object.values(COMMAND_GROUPS).map((group) => {
    const names = program.commands
      .filter((command) => command.helpGroup() === group)
      .map((command) => command.name());
    return `  ${group.padEnd(GROUP_COLUMNS)}${wrapped(names)}\n`;
  });
  return `${PURPOSE}
Run it on the node, as root. It needs no API server.

On a sick node:
${FIRST.map(([command, does]) => `  ${command.padEnd(COMMAND_COLUMNS)}${does}\n`).join('')}
Other commands:
${groups.join('')}
Options of every command:
  -q, --quiet    ${GLOBAL_OPTIONS.quiet}
  -v, --verbose  ${GLOBAL_OPTIONS.verbose}
  -h, --help     show what a command does, with examples and its exit codes

Exit codes:
${exitCodeLines(EXIT_MEANINGS)}
Use "kubediag COMMAND --help" for one command, "kubediag help --all" for all.
`;
}

/** Names with commas, on as many lines as they need beside the name of their group. */
function wrapped(names: readonly string[]): string {
  const lines = [''];
  for (const name of names) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? name : `${line}, ${name}`;
    // With its indent before it and a comma behind.
    if (longer.length > PAGE_COLUMNS - GROUP_COLUMNS - 3) lines.push(name);
    else lines[lines.length - 1] = longer;
  }
  return lines.join(`,\n${' '.repeat(GROUP_COLUMNS + 2)}`);
}

/** By the name of the command, of one in a group with both words: "lab up". */
export function helpOf(name: string): CommandHelp | undefined {
  return NODE_HELP[name] ?? AGENT_HELP[name] ?? LAB_HELP[name];
}

/** What stands below the options of a command. */
export function examplesAndCodes(name: string): string {
  const help = helpOf(name);
  if (!help) return '';
  const examples = help.examples.map(([purpose, command]) => `  # ${purpose}\n  ${command}\n`);
  const codes = { ...help.exitCodes, 64: EXIT_MEANINGS[64] ?? '' };
  return `\nExamples:\n${examples.join('\n')}\nExit codes:\n${exitCodeLines(codes)}`;
}

function exitCodeLines(meanings: Readonly<Record<number, string>>): string {
  return Object.entries(meanings)
    .map(([code, meaning]) => `  ${code.padEnd(4)}${meaning}\n`)
    .join('');
}
