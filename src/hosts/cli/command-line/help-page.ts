import type { CommandGroup, CommandSpec } from '../../../lib/terminal/command-spec.ts';
import { EXIT_MEANINGS } from '../../../lib/terminal/terminal.ts';
import { labelledText } from '../../../lib/terminal/wrap.ts';
import type { CommandSection } from './commands.ts';

/** Options of every command; each fits into a line of the first page. */
export const GLOBAL_OPTIONS = {
  quiet: 'print only the answer: no progress, no hints',
  verbose: 'print every finding in full, and what was read from the node',
} as const;

const PURPOSE = 'KubeDiag finds faults of a Kubernetes node, shows the proof, and repairs them.';

/** What somebody on a faulty node needs, in the order in which they need it. */
const FIRST = [
  ['kubediag check', 'check this node for faults'],
  ['kubediag explain FAULT', 'explain a fault, or find one by an error message'],
  ['kubediag recover', 'repair what was found: show the plan and ask first'],
  ['kubediag bundle', 'record the evidence in a file, to judge it elsewhere'],
] as const;

const COMMAND_COLUMNS = 25;
const TITLE_COLUMNS = 36;
const PAGE_COLUMNS = 80;

/** The first section in full, and the names of all other commands. */
export function firstPage([first, ...others]: readonly CommandSection[]): string {
  const lines = others.map(({ title, commands }) => {
    const names = commands.map(({ name }) => name);
    return labelledText(title, names.join(', '), PAGE_COLUMNS, { columns: TITLE_COLUMNS });
  });
  return `${PURPOSE}
Run it on the node, as root. It needs no API server.

${first?.title}:
${FIRST.map(([command, does]) => `  ${command.padEnd(COMMAND_COLUMNS)}${does}\n`).join('')}
Other commands:
${lines.flat().join('\n')}

Options of every command:
  -q, --quiet    ${GLOBAL_OPTIONS.quiet}
  -v, --verbose  ${GLOBAL_OPTIONS.verbose}
  -h, --help     show the help of a command, with examples and exit codes

Exit codes:
${exitCodeLines(EXIT_MEANINGS)}
Use "kubediag COMMAND --help" for one command, "kubediag help --all" for all.
`;
}

/** The end of a help page, below the options. */
export function examplesAndCodes({ examples, exitCodes }: CommandSpec | CommandGroup): string {
  const lines = examples.map(([purpose, command]) => `  # ${purpose}\n  ${command}\n`);
  const codes = { ...exitCodes, 64: EXIT_MEANINGS[64] ?? '' };
  return `\nExamples:\n${lines.join('\n')}\nExit codes:\n${exitCodeLines(codes)}`;
}

function exitCodeLines(meanings: Readonly<Record<number, string>>): string {
  return Object.entries(meanings)
    .map(([code, meaning]) => `  ${code.padEnd(4)}${meaning}\n`)
    .join('');
}
