import { geteuid } from 'node:process';
import { type Command, CommanderError } from 'commander';
import { terminalText } from '../../lib/std/terminal-text.ts';
import { EXIT } from '../../lib/terminal/exit-codes.ts';
import { systemTerminal, type Terminal } from '../../lib/terminal/terminal.ts';
import { UsageError } from '../../lib/terminal/usage-error.ts';
import { commands } from './command-line/commands.ts';
import type { LabCompletions } from './command-line/complete-words.ts';
import { withCommandApart } from './command-line/lab-commands.ts';
import { namedIn } from './command-line/named-options.ts';
import type { Lab } from './commands/lab.ts';
import type { Serve, ServeOptions } from './commands/serve.ts';

/** What only `main` can reach, loaded when it is asked for. */
export interface OtherHosts {
  readonly serve: () => Promise<Serve>;
  readonly lab: () => Promise<Lab>;
  /** For the completion of a shell. */
  readonly labCompletions: () => Promise<LabCompletions>;
}

/** Runs one command of a person on a node, and gives the exit code. */
export async function runCli(args: readonly string[], others: OtherHosts): Promise<number> {
  let lost: string | undefined;
  ignoreBrokenPipe((why) => {
    lost = why;
  });
  const code = await codeOf(args, others);
  // What could not be written is told a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  if (lost === undefined) return code;
  process.stderr.write(`kubediag: the output could not be written: ${lost}\n`);
  return EXIT.notDone;
}

async function codeOf(args: readonly string[], others: OtherHosts): Promise<number> {
  // Not a command: only scripts of `kubediag completion` say it.
  if (args[0] === '__complete') return completed(args.slice(1), others);
  let code: number = EXIT.clear;
  const program = commands(async (command, given, options) => {
    const terminal = systemTerminal(options);
    terminal.hint(hintWithoutRoot(command, options));
    if (namedIn(options).length > 0) {
      const { checkOptions } = await import('./command-line/check-options.ts');
      await checkOptions(command, { ...options }, terminal);
    }
    code = await runAny(command, given, options, terminal, others);
  });
  for (const command of withThoseIn(program)) command.exitOverride();
  try {
    const asked = withShortValues(withCommandApart(args));
    if (isForAllCommands(asked)) {
      process.stdout.write(program.allCommands());
      return code;
    }
    const names = program.commands.map((command) => command.name());
    // Without a word, somebody wants to know what this is.
    const given = asked.length === 0 ? ['--help'] : askedOf(asked, names);
    await program.parseAsync(given, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.clear : EXIT.usage;
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(terminalText(`kubediag: ${error.message}\n`));
    return EXIT.usage;
  }
}

/**
 * Commands that look at the node, where half of what they ask is root's to see. A check says so in its
 * answer.
 */
const LOOKS: ReadonlySet<string> = new Set([
  ...['recover', 'bundle', 'stacks', 'profile', 'run', 'serve'],
]);

/** Told first: it is why most of what follows is unknown. */
function hintWithoutRoot(command: string, options: object): string {
  if (geteuid?.() === 0 || !LOOKS.has(command) || 'file' in options) return '';
  return `not root: most of the node cannot be read; run sudo kubediag ${command}\n`;
}

async function completed(args: readonly string[], { labCompletions }: OtherHosts): Promise<number> {
  const { complete } = await import('./commands/completion.ts');
  process.stdout.write(await complete(args, labCompletions));
  return EXIT.clear;
}

/**
 * Help on a command that does not exist would be the whole usage, without a word on what is wrong
 * with the question; the command itself is told so, with the name that was meant.
 */
function askedOf(args: readonly string[], names: readonly string[]): readonly string[] {
  const [first, name] = args.filter((word) => !word.startsWith('-'));
  if (first !== 'help' || name === undefined || [...names, 'help'].includes(name)) return args;
  return [name];
}

/** `kubediag help --all` */
function isForAllCommands(args: readonly string[]): boolean {
  return args[0] === 'help' && args.includes('--all');
}

/** `-o=json` as kubectl takes it; the parser knows only `-o json` and `-ojson`. */
function withShortValues(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return args.map((word, at) =>
    end >= 0 && at > end ? word : word.replace(/^(-[A-Za-z])=/, '$1'),
  );
}

function withThoseIn(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withThoseIn)];
}

async function runAny(
  command: string,
  args: readonly string[],
  options: object,
  terminal: Terminal,
  others: OtherHosts,
): Promise<number> {
  if (command === 'serve') return serve(options as never, terminal, others);
  // "lab up"
  const [group, inGroup] = command.split(' ');
  if (group !== 'lab') return runCommand(command, args, options, terminal);
  const { practise } = await import('./commands/lab.ts');
  return practise(await others.lab(), inGroup ?? '', args, options, terminal);
}

async function serve(
  options: ServeOptions,
  terminal: Terminal,
  others: OtherHosts,
): Promise<number> {
  const { serveHere } = await import('./commands/serve.ts');
  return serveHere(options, terminal, await others.serve());
}

/** Each command's code is loaded when it is used: `version` does not wait for `recover`. */
async function runCommand(
  command: string,
  args: readonly string[],
  options: object,
  terminal: Terminal,
): Promise<number> {
  const [first = '', ...rest] = args;
  switch (command) {
    case 'check':
      return (await import('./commands/check.ts')).check(args, options as never, terminal);
    case 'recover':
      return (await import('./commands/recover.ts')).recover(args[0], options as never, terminal);
    case 'explain':
      return (await import('./commands/explain.ts')).explain(args, terminal);
    case 'journal':
      return (await import('./commands/journal.ts')).journal(options as never, terminal);
    case 'bundle':
      return (await import('./commands/bundle.ts')).bundle(args[0], options as never, terminal);
    case 'replay':
      return (await import('./commands/replay.ts')).replay(first, rest, options, terminal);
    case 'examine':
      return (await import('./commands/examine.ts')).examine(args, options, terminal);
    case 'stacks':
      return (await import('./commands/stacks.ts')).stacks(options as never, terminal);
    case 'profile':
      return (await import('./commands/profile.ts')).profile(options as never, terminal);
    case 'trace':
      return (await import('./commands/trace.ts')).trace(rest, options as never, terminal);
    case 'run':
      return (await import('./commands/run.ts')).run(options as never, terminal);
    case 'lint':
      return (await import('./commands/lint.ts')).lint(options as never, terminal);
    case 'operations':
      return (await import('./commands/operations.ts')).operations(options, terminal);
    case 'apply':
      return (await import('./commands/apply.ts')).apply(options as never, terminal);
    case 'get':
      return (await import('./commands/get.ts')).get(args, options as never, terminal);
    case 'describe':
      return (await import('./commands/describe.ts')).describe(args, options as never, terminal);
    case 'fetch':
      return (await import('./commands/fetch.ts')).fetchResult(args, options as never, terminal);
    case 'delete':
      return (await import('./commands/delete.ts')).deleteObjects(args, options as never, terminal);
    case 'wait':
      return (await import('./commands/wait.ts')).wait(args, options as never, terminal);
    case 'approve':
      return (await import('./commands/change-diagnosis.ts')).approve(
        args,
        options as never,
        terminal,
      );
    case 'cancel':
      return (await import('./commands/change-diagnosis.ts')).cancel(
        args,
        options as never,
        terminal,
      );
    case 'collector':
      return (await import('./commands/collector.ts')).collector(terminal);
    case 'completion':
      return (await import('./commands/completion.ts')).completion(first, terminal);
    default:
      return (await import('./commands/version.ts')).version(terminal);
  }
}

/**
 * `kubediag check | head` closes our output early, a lost connection takes the terminal away, a
 * full disk takes no more of it: no defect of ours, and no reason to leave a recovery half done.
 */
function ignoreBrokenPipe(onLoss: (why: string) => void): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever went away knows that they did.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') onLoss(error.message);
  });
}
