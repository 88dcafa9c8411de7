import type { GlobalOptions, Terminal } from './terminal.ts';

/** One option of a command, with the flags as help shows them: "-o, --output <FORMAT>". */
export interface OptionSpec {
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** The value of an option that is given without one: `--dry-run` means `--dry-run=client`. */
  readonly preset?: string;
  readonly isRequired?: boolean;
  /** Each use adds a value: `-L app -L tier`. */
  readonly isRepeatable?: boolean;
  /** The names of options that cannot be given with it, as the command reads them: "kubeletVersion". */
  readonly conflicts?: readonly string[];
  readonly complete?: Complete;
  /** The kind of object that the value must name; checked before the command runs. */
  readonly names?: NamedKind;
  /** Where that is: on this machine; on the node, below --host-root; or in a file of our own. */
  readonly on?: 'here' | 'node' | 'own';
}

export type NamedKind =
  | 'file'
  | 'folder'
  | 'host-root'
  | 'state-folder'
  | 'socket'
  | 'process'
  | 'program'
  | 'address';

/** One argument of a command: "[FAULT...]", "<FILE>". */
export interface ArgumentSpec {
  readonly name: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly complete?: Complete;
}

/** What a shell can complete here; undefined leaves it to what the name of the value suggests. */
export type Complete = (
  typed: string,
  argumentsBefore: readonly string[],
) => Promise<readonly string[] | undefined>;

/** What `--help` says beside arguments and options. */
export interface CommandHelp {
  readonly name: string;
  /** An imperative with an object: "Check this node". */
  readonly summary: string;
  /** A purpose, and the command for it. */
  readonly examples: readonly (readonly [purpose: string, command: string])[];
  /** What each exit code means; 64 and 70 mean the same everywhere. */
  readonly exitCodes: Readonly<Record<number, string>>;
}

/** One command. Parser, help, completion and the reference page are all derived from it. */
export interface CommandSpec extends CommandHelp {
  /** Replaces the usage that follows from the arguments. */
  readonly usage?: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Whether most of its reads need root. */
  readonly needsRoot?: boolean;
  /** Whether everything after the first argument belongs to another command: `lab run ls -l`. */
  readonly passesOptionsOn?: boolean;
  /** Loads the code of the command: `version` does not wait for `recover`. */
  readonly load: () => Promise<CommandHandler>;
}

/** Runs a command, and returns the exit code. */
export type CommandHandler<O = object> = (
  args: readonly string[],
  options: O,
  terminal: Terminal,
) => Promise<number> | number;

/** Commands with a common prefix: `kubediag lab up`. */
export interface CommandGroup extends CommandHelp {
  readonly members: readonly CommandSpec[];
}

type Definition<O extends readonly OptionSpec[]> = Omit<
  CommandSpec,
  'load' | 'options' | 'arguments'
> & {
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  readonly load: () => Promise<CommandHandler<OptionsOf<O> & GlobalOptions>>;
};

export function option<const F extends string, const M extends Partial<OptionSpec> = object>(
  flags: F,
  about: string,
  more?: M,
): { readonly flags: F; readonly about: string } & M {
  return { flags, about, ...(more as M) };
}

export function argument(
  name: string,
  about: string,
  more: Partial<ArgumentSpec> = {},
): ArgumentSpec {
  return { name, about, ...more };
}

/** Checks that the options fit the code that reads them. */
export function command<const O extends readonly OptionSpec[] = []>({
  load,
  ...definition
}: Definition<O>): CommandSpec {
  // The parser builds the options from this table.
  return { arguments: [], options: [], ...definition, load: load as CommandSpec['load'] };
}

/** For a handler that does not use the arguments of its command. */
export function ignoringArguments<O, R>(handler: (options: O, terminal: Terminal) => R) {
  return (_args: readonly string[], options: O, terminal: Terminal): R =>
    handler(options, terminal);
}

/** For a handler that does not use the options of its command. */
export function ignoringOptions<R>(handler: (args: readonly string[], terminal: Terminal) => R) {
  return (args: readonly string[], _options: object, terminal: Terminal): R =>
    handler(args, terminal);
}

/** The parsed options: an object with a property for each. */
export type OptionsOf<O extends readonly OptionSpec[]> = {
  readonly [S in O[number] as S extends AlwaysSet ? KeyOf<S['flags']> : never]: ValueOf<S>;
} & {
  readonly [S in O[number] as S extends AlwaysSet ? never : KeyOf<S['flags']>]?: ValueOf<S>;
};

type AlwaysSet =
  | { readonly default: string }
  | { readonly isRequired: true }
  | { readonly flags: `--no-${string}` };

/** "-o, --output <FORMAT>" is `output`, "--no-headers" is `headers`. */
type KeyOf<F extends string> = F extends `${string}--no-${infer R}`
  ? CamelCase<FirstWord<R>>
  : F extends `${string}--${infer R}`
    ? CamelCase<FirstWord<R>>
    : never;
type FirstWord<S extends string> = S extends `${infer W} ${string}` ? W : S;
type CamelCase<S extends string> = S extends `${infer A}-${infer B}`
  ? `${A}${Capitalize<CamelCase<B>>}`
  : S;

type ValueOf<S extends OptionSpec> = S extends
  | { readonly isRepeatable: true }
  | { readonly flags: `${string}...>` }
  ? readonly string[]
  : S['flags'] extends `${string}<${string}` | `${string}[${string}`
    ? S extends { readonly choices: readonly (infer C)[] }
      ? C
      : string
    : boolean;
