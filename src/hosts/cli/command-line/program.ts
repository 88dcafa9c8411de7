import { Argument, Command, Option } from 'commander';
import type {
  ArgumentSpec,
  CommandGroup,
  CommandSpec,
  OptionSpec,
} from '../../../lib/terminal/command-spec.ts';
import { VERSION } from '../../local-node/product-version.ts';
import type { CommandSection } from './commands.ts';
import { examplesAndCodes, firstPage, GLOBAL_OPTIONS } from './help-page.ts';

/** A command as it was typed. */
export interface TypedCommand {
  readonly spec: CommandSpec;
  /** "check", "lab up" */
  readonly name: string;
  readonly args: readonly string[];
  readonly options: object;
}

/** The parser of the whole command line, made of its table. */
export class Program extends Command {
  readonly #sections: readonly CommandSection[];
  readonly #specs = new Map<Command, CommandSpec | CommandGroup>();
  #typed: TypedCommand | undefined;

  constructor(sections: readonly CommandSection[]) {
    super('kubediag');
    this.#sections = sections;
    this.description('Find, prove and repair faults of Kubernetes nodes')
      .option('-q, --quiet', GLOBAL_OPTIONS.quiet)
      .option('-v, --verbose', GLOBAL_OPTIONS.verbose)
      .version(`kubediag ${VERSION}`, '--version', 'print the version of this program')
      .addHelpCommand(helpCommand(sections.at(-1)?.title ?? ''))
      .configureHelp({ subcommandTerm: (parser) => parser.name() })
      .showSuggestionAfterError();
    for (const { title, commands } of sections) {
      for (const spec of commands) {
        this.addCommand(this.#parserOf(spec, spec.name).helpGroup(title));
      }
    }
  }

  /** The command in these words. Throws a CommanderError after help was printed, or words are wrong. */
  typedIn(words: readonly string[]): TypedCommand | undefined {
    for (const parser of withSubcommands(this)) parser.exitOverride();
    this.parse(words, { from: 'user' });
    return this.#typed;
  }

  /** What somebody on a faulty node needs; `allCommands` has the rest. */
  override helpInformation(): string {
    return firstPage(this.#sections);
  }

  /** Every command with its summary, in groups. */
  allCommands(): string {
    return super.helpInformation();
  }

  /** The row of the table that a parser was made of. */
  specOf(parser: Command): CommandSpec | CommandGroup | undefined {
    return this.#specs.get(parser);
  }

  #parserOf(spec: CommandSpec | CommandGroup, name: string): Command {
    const parser = new Command(spec.name)
      .description(spec.summary)
      .configureHelp({ showGlobalOptions: true })
      .addHelpText('after', examplesAndCodes(spec));
    this.#specs.set(parser, spec);
    if ('members' in spec) {
      parser.helpCommand(false);
      for (const member of spec.members) {
        parser.addCommand(this.#parserOf(member, `${name} ${member.name}`));
      }
      return parser;
    }
    if (spec.usage !== undefined) parser.usage(spec.usage);
    for (const each of spec.arguments) parser.addArgument(argumentOf(each));
    for (const each of spec.options) parser.addOption(optionOf(each));
    return parser.action(() => {
      const args = parser.processedArgs.flat().filter((word) => word !== undefined) as string[];
      this.#typed = { spec, name, args, options: parser.optsWithGlobals() };
    });
  }
}

function withSubcommands(parser: Command): readonly Command[] {
  return [parser, ...parser.commands.flatMap(withSubcommands)];
}

function argumentOf({ name, about, choices }: ArgumentSpec): Argument {
  const argument = new Argument(name, about);
  return choices ? argument.choices(choices) : argument;
}

function optionOf(spec: OptionSpec): Option {
  const { flags, about, choices, preset, isRequired = false, isRepeatable, conflicts = [] } = spec;
  const option = new Option(flags, about)
    .default(spec.default)
    .preset(preset)
    .conflicts([...conflicts])
    .makeOptionMandatory(isRequired);
  if (choices) option.choices(choices);
  if (isRepeatable) {
    option.argParser((value, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  return option;
}

function helpCommand(section: string): Command {
  return new Command('help')
    .description('Show the help of a command; with --all, list every command')
    .argument('[COMMAND]')
    .helpOption(false)
    .helpGroup(section);
}
