import type { Command, Option } from 'commander';
import { labCommands } from '../../lab/commands.ts';
import { commandSections } from '../../src/hosts/cli/command-line/commands.ts';
import { Program } from '../../src/hosts/cli/command-line/program.ts';
import { EXIT_MEANINGS } from '../../src/lib/terminal/terminal.ts';
import { code, fenced, tableOf } from './markdown.ts';

/** The command line with the commands of the lab, to read and not to run. */
export function wholeProgram(): Program {
  const serve = async () => (await import('../../src/hosts/serve/serve.ts')).serve;
  const agent = async () => (await import('../../src/hosts/agent/agent.ts')).runAgent;
  const executor = async () =>
    (await import('../../src/hosts/executor/run-executor.ts')).runExecutor;
  const controller = async () =>
    (await import('../../src/hosts/controller/controller.ts')).runController;
  return new Program(commandSections({ serve, agent, executor, controller }, labCommands));
}

/** docs/reference/cli.md: the `--help` of all commands on one page. */
export function cliPage(): string {
  const program = wholeProgram();
  // Of a group, such as `kubediag lab`, also those in it.
  const all = program.commands.flatMap((command) => [command, ...command.commands]);
  return [
    '# kubediag on the command line\n',
    `${program.description()}\n`,
    fenced('', [program, ...all].map(usageOf).join('\n')),
    'Data goes to standard output, everything else to standard error. `NO_COLOR` is honoured. Every\n' +
      'command has `--help`.\n',
    '## Options of every command\n',
    optionTable(program.options),
    ...all.map((command) => commandPart(command, program)),
    '## Exit codes\n',
    'The exit codes of all commands; each command has its own table above. Every command can exit with 64 or 70.\n',
    tableOf(['code', 'means'], Object.entries(EXIT_MEANINGS)),
  ].join('\n');
}

function usageOf(command: Command): string {
  if (!command.parent) return `${command.name()} [options] COMMAND`;
  // Every command has --help; it is not worth a word in each line.
  const usage = command.usage();
  const words = command.options.length > 0 ? usage : usage.replace(/^\[options\] ?/, '');
  return `kubediag ${nameOf(command)} ${words}`.trim();
}

function commandPart(command: Command, program: Program): string {
  const { registeredArguments, options } = command;
  const parts = [`## ${code(`kubediag ${nameOf(command)}`)}\n`, `${sentence(command)}\n`];
  parts.push(fenced('', usageOf(command)));
  if (registeredArguments.length > 0) {
    const rows = registeredArguments.map((argument) => [
      code(argument.name()),
      argument.required ? 'one' : argument.variadic ? 'any number' : 'at most one',
      withChoices(argument.description, argument.argChoices),
    ]);
    parts.push(tableOf(['argument', 'how many', 'is'], rows));
  }
  if (options.length > 0) parts.push(optionTable(options));
  const help = program.specOf(command);
  if (help) {
    const examples = help.examples.map(([purpose, words]) => `# ${purpose}\n${words}\n`);
    parts.push(fenced('', examples.join('\n').trimEnd()));
    parts.push(tableOf(['exit code', 'means'], Object.entries(help.exitCodes)));
  }
  return parts.join('\n');
}

function optionTable(options: readonly Option[]): string {
  return tableOf(
    ['option', 'does', 'default'],
    options.map(({ flags, description, argChoices, defaultValue }) => [
      code(flags),
      withChoices(description, argChoices),
      defaultValue === undefined ? '' : code(String(defaultValue)),
    ]),
  );
}

function withChoices(description: string, choices: readonly string[] | undefined): string {
  return choices ? `${description}; one of ${choices.map(code).join(', ')}` : description;
}

function sentence(command: Command): string {
  const text = command.description();
  return `${text}.`;
}

/** "check"; of one in a group both words: "lab up". */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}
