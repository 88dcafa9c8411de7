import { geteuid } from 'node:process';
import { CommanderError, Option } from 'commander';
import { terminalText } from '../../lib/std/terminal-text.ts';
import type { CommandSpec } from '../../lib/terminal/command-spec.ts';
import { EXIT, systemTerminal, UsageError } from '../../lib/terminal/terminal.ts';
import type { NamedOption } from './command-line/check-options.ts';
import { commandSections, type OtherHosts } from './command-line/commands.ts';
import { normalizeArguments } from './command-line/normalize-arguments.ts';
import { Program, type TypedCommand } from './command-line/program.ts';

/** Runs one command of a person on a node, and returns the exit code. */
export async function runCli(args: readonly string[], hosts: OtherHosts): Promise<number> {
  let lost: string | undefined;
  ignoreBrokenPipe((why) => {
    lost = why;
  });
  const code = await codeOf(args, hosts);
  // A failed write is reported one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  if (lost === undefined) return code;
  process.stderr.write(`kubediag: cannot write the output: ${lost}\n`);
  return EXIT.notDone;
}

async function codeOf(args: readonly string[], hosts: OtherHosts): Promise<number> {
  // Not a command: only the scripts of `kubediag completion` call it.
  if (args[0] === '__complete') {
    const { complete } = await import('./command-line/complete.ts');
    process.stdout.write(await complete(args.slice(1), hosts));
    return EXIT.clear;
  }
  const labCommands = args.includes('lab') ? await hosts.lab() : [];
  const program = new Program(commandSections(hosts, labCommands));
  try {
    const asked = normalizeArguments(
      args,
      program.commands.map((parser) => parser.name()),
      labCommands,
    );
    if (asked[0] === 'help' && asked.includes('--all')) {
      process.stdout.write(program.allCommands());
      return EXIT.clear;
    }
    const typed = program.typedIn(asked.length === 0 ? ['--help'] : asked);
    return typed ? await run(typed) : EXIT.clear;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.clear : EXIT.usage;
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(terminalText(`kubediag: ${error.message}\n`));
    return EXIT.usage;
  }
}

async function run({ spec, name, args, options }: TypedCommand): Promise<number> {
  const terminal = systemTerminal(options);
  terminal.hint(hintWithoutRoot(spec, options));
  const named = namedIn(spec, options);
  if (named.length > 0) {
    const { checkOptions } = await import('./command-line/check-options.ts');
    await checkOptions(name, named, { ...options }, terminal);
  }
  const handler = await spec.load();
  return handler(args, options, terminal);
}

/** Printed first: it is why most of what follows is unknown. A check says so in its report. */
function hintWithoutRoot({ name, needsRoot = false }: CommandSpec, options: object): string {
  if (geteuid?.() === 0 || !needsRoot || 'file' in options) return '';
  return `not root: most of the node cannot be read; run sudo kubediag ${name}\n`;
}

/** The given options whose values must exist. The root comes first: others lie below it. */
function namedIn(spec: CommandSpec, options: object): readonly NamedOption[] {
  const values = new Map<string, unknown>(Object.entries(options));
  const given = spec.options.flatMap(({ flags, names, on = 'here', default: usual }) => {
    const option = new Option(flags);
    const value = values.get(option.attributeName());
    if (!names || typeof value !== 'string' || value === usual) return [];
    return [{ names, on, flag: option.long ?? flags, value }];
  });
  const rank = ({ names }: NamedOption) => (names === 'host-root' ? 0 : 1);
  return given.toSorted((left, right) => rank(left) - rank(right));
}

/**
 * `kubediag check | head` closes our output early, a lost connection takes the terminal away, a full
 * disk takes no more of it: none is a defect of ours, or a reason to leave a recovery half done.
 */
function ignoreBrokenPipe(onLoss: (why: string) => void): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader closed it on purpose.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') onLoss(error.message);
  });
}
