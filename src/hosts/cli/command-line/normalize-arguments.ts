import type { CommandSpec } from '../../../lib/terminal/command-spec.ts';

/** What a person typed, as the parser takes it. `names` are those of all commands. */
export function normalizeArguments(
  args: readonly string[],
  names: readonly string[],
  labCommands: readonly CommandSpec[],
): readonly string[] {
  return withKnownTopic(withShortValues(withPassedOptions(args, labCommands)), names);
}

/**
 * `kubediag help chekc` would print the first page. The parser of `chekc` reports the error and
 * suggests the name that was meant.
 */
function withKnownTopic(args: readonly string[], names: readonly string[]): readonly string[] {
  const [first, name] = args.filter((arg) => !arg.startsWith('-'));
  if (first !== 'help' || name === undefined || [...names, 'help'].includes(name)) return args;
  return [name];
}

/** `-o=json` as kubectl takes it; the parser knows only `-o json` and `-ojson`. */
function withShortValues(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return args.map((arg, at) => (end >= 0 && at > end ? arg : arg.replace(/^(-[A-Za-z])=/, '$1')));
}

/**
 * `lab run --name a ls -l` as if it were `lab run --name a -- ls -l`: what follows the command
 * belongs to it, also when it looks like an option of ours.
 */
function withPassedOptions(
  args: readonly string[],
  labCommands: readonly CommandSpec[],
): readonly string[] {
  const isOption = (arg: string) => arg.startsWith('-');
  const group = args.findIndex((arg) => !isOption(arg));
  const member = args.findIndex((arg, at) => at > group && !isOption(arg));
  const spec = labCommands.find(({ name }) => args[group] === 'lab' && name === args[member]);
  if (!spec?.passesOptionsOn) return args;
  // "--name <NAME>"
  const withValue = spec.options.map(({ flags }) => /^(--\S+) </.exec(flags)?.[1]);
  const first = args.findIndex(
    (arg, at) =>
      at > member && (arg === '--' || (!isOption(arg) && !withValue.includes(args[at - 1]))),
  );
  if (first < 0 || args[first] === '--') return args;
  return [...args.slice(0, first), '--', ...args.slice(first)];
}
