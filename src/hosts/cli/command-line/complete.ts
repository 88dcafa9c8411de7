import type { Command, Option } from 'commander';
import { printable } from '../../../lib/std/printable.ts';
import type { CommandSpec } from '../../../lib/terminal/command-spec.ts';
import { faults } from '../../../node/faults/index.ts';
import { kinds } from '../../../pipeline/api/kinds.ts';
import { AgentNames } from '../agent-client/agent-names.ts';
import { commandSections, type OtherHosts } from './commands.ts';
import { isKind, kindNamed } from './kind-named.ts';
import { Program } from './program.ts';

/**
 * `kubediag __complete SHELL WORD...`: first a line that says whether files fit too, or that no space
 * follows; then a word in each line, and its description behind a tab.
 */
export async function complete(
  [shell = '', ...given]: readonly string[],
  hosts: OtherHosts,
): Promise<string> {
  const typed = shell === 'bash' ? rejoined(given) : given;
  const { words, files } = await completionsFor(typed, hosts);
  const isOpen = words.some(({ word }) => /[=/]$/.test(word));
  const kind = files ? 'files' : isOpen ? 'nospace' : 'words';
  // bash takes what stands behind "=" for a word of its own.
  const before = shell === 'bash' ? ((typed.at(-1) ?? '').match(/^.*=/s)?.[0].length ?? 0) : 0;
  const lines = words.map(({ word, description }) => {
    const text = word.slice(before);
    return description === undefined ? text : `${text}\t${description}`;
  });
  return [kind, ...lines].map((line) => `${line.split('\t').map(printable).join('\t')}\n`).join('');
}

/** "--output", "=", "json", as bash takes it apart, is one word again. */
function rejoined(words: readonly string[]): readonly string[] {
  const joined: string[] = [];
  let isOpen = false;
  for (const word of words) {
    const last = joined.at(-1) ?? '';
    const goesOn: boolean = isOpen || (word === '=' && last.startsWith('--'));
    if (goesOn) joined[joined.length - 1] = `${last}${word}`;
    else joined.push(word);
    isOpen = word === '=' && goesOn;
  }
  return joined;
}

/** What may stand in the place of the last word. */
export interface Completions {
  readonly words: readonly Completion[];
  /** Names of files fit there too. */
  readonly files: boolean;
}

interface Completion {
  readonly word: string;
  readonly description?: string;
}

/** What was typed up to the last word, as the commands understand it. */
interface Typed {
  readonly command: Command;
  readonly positional: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  /** The option whose value the last word is, if it is one. */
  readonly open: Option | undefined;
}

const NOTHING: Completions = { words: [], files: false };
const FILES: Completions = { words: [], files: true };

/** Every word that can be where the last of these is; those that do not begin like it are left out. */
async function completionsFor(
  words: readonly string[],
  { serve, lab }: OtherHosts,
): Promise<Completions> {
  const here = words.at(-1) ?? '';
  const program = new Program(commandSections(serve, await lab()), async () => {});
  const typed = typedIn(words.slice(0, -1), program);
  const sources = new Sources(typed, program);
  const found = await candidates(here, typed, sources);
  return { ...found, words: found.words.filter(({ word }) => word.startsWith(here)) };
}

async function candidates(here: string, typed: Typed, sources: Sources): Promise<Completions> {
  const { command, open, positional } = typed;
  // An option whose value may be left out can be followed by another option.
  if (open?.required || (open && !here.startsWith('-'))) return sources.valuesOf(open);
  const [, flag = ''] = /^(--[\w-]+)=/.exec(here) ?? [];
  const option = optionNamed(flag, command);
  if (option) {
    const { words, files } = await sources.valuesOf(option);
    return { files, words: words.map((each) => ({ ...each, word: `${flag}=${each.word}` })) };
  }
  if (here.startsWith('-')) return listed(optionsOf(command).flatMap(optionCompletion));
  if (command.commands.length > 0) {
    // Behind a word that is no command nothing can be right; behind "help" every command is.
    if (positional.some((word) => word !== 'help')) return NOTHING;
    const members = command.commands.map((each) => described(each.name(), each.description()));
    const help = command.parent ? [] : [described('help', 'Show the help of a command')];
    return listed([...members, ...help]);
  }
  const { registeredArguments } = command;
  const index = Math.min(positional.length, registeredArguments.length - 1);
  const argument = registeredArguments[index];
  if (!argument || (positional.length >= registeredArguments.length && !argument.variadic)) {
    return NOTHING;
  }
  if (argument.argChoices) return listed(argument.argChoices.map((word) => ({ word })));
  return sources.argumentAt(index, argument.name(), here);
}

function typedIn(words: readonly string[], program: Program): Typed {
  let command: Command = program;
  let open: Option | undefined;
  const positional: string[] = [];
  const options = new Map<string, string>();
  for (const word of words) {
    if (open?.optional && word.startsWith('-')) open = undefined;
    const [, flag = word, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    const option = open ? undefined : optionNamed(flag, command);
    const member = command.commands.find((each) => each.name() === word);
    if (open) {
      options.set(open.attributeName(), word);
      open = undefined;
    } else if (option) {
      if (value !== undefined) options.set(option.attributeName(), value);
      else if (option.required || option.optional) open = option;
    } else if (member) command = member;
    else if (!word.startsWith('-')) positional.push(word);
  }
  return { command, positional, options, open };
}

function optionsOf(command: Command): readonly Option[] {
  const above = command.parent ? optionsOf(command.parent) : [];
  return [...command.options, ...above];
}

function optionNamed(flag: string, command: Command): Option | undefined {
  return optionsOf(command).find(({ long, short }) => flag === long || flag === short);
}

function optionCompletion({ long, description }: Option): readonly Completion[] {
  return long ? [described(long, description)] : [];
}

function described(word: string, description: string): Completion {
  return { word, description };
}

function listed(words: readonly Completion[]): Completions {
  return { words, files: false };
}

function plain(words: readonly string[]): Completions {
  return listed(words.map((word) => ({ word })));
}

// --state-dir <DIR>, -f, --filename <FILE...>
const PLACEHOLDER = /<([A-Z/:=]+)(?:\.\.\.)?>/;
const OF_FILES = new Set(['FILE', 'DIR', 'PATH', 'SOCKET', 'DUMP', 'PROFILE']);

/** Words that do not stand in the table of commands. */
class Sources {
  readonly #typed: Typed;
  readonly #spec: CommandSpec | undefined;
  readonly #agent: AgentNames;

  constructor(typed: Typed, program: Program) {
    const spec = program.specOf(typed.command);
    this.#typed = typed;
    this.#spec = spec && 'run' in spec ? spec : undefined;
    this.#agent = new AgentNames(typed.options);
  }

  async valuesOf(option: Option): Promise<Completions> {
    if (option.argChoices) return plain(option.argChoices);
    const own = this.#spec?.options.find(({ flags }) => flags === option.flags)?.complete;
    const words = await own?.('', this.#typed.positional);
    if (words) return plain(words);
    if (option.long === '--namespace') return plain(await this.#agent.namespaces());
    return OF_FILES.has(PLACEHOLDER.exec(option.flags)?.[1] ?? '') ? FILES : NOTHING;
  }

  async argumentAt(index: number, name: string, here: string): Promise<Completions> {
    const words = await this.#spec?.arguments[index]?.complete?.(here, this.#typed.positional);
    if (words) return plain(words);
    switch (name) {
      case 'FAULT':
      case 'FAULT|SYMPTOM':
        return listed(faults.map(({ id, title }) => described(id, title)));
      case 'TYPE[/NAME]':
      case 'NAME':
        return this.#objects(here);
      case 'KEY':
        return plain(await this.#agent.resultsOf(this.#typed.positional[0] ?? ''));
      default:
        return OF_FILES.has(name) ? FILES : NOTHING;
    }
  }

  /** `TYPE`, then names of it; or `TYPE/NAME` in every place. */
  async #objects(here: string): Promise<Completions> {
    const { command, positional } = this.#typed;
    const [type = '', name] = here.split('/');
    if (name !== undefined) {
      const names = isKind(type) ? await this.#agent.namesOf(kindNamed(type)) : [];
      return plain(names.map((each) => `${type}/${each}`));
    }
    const [first] = positional;
    const takesTypes = command.registeredArguments[0]?.name() === 'TYPE[/NAME]';
    if (takesTypes && first === undefined) {
      return listed(kinds.map(({ plural, description }) => described(plural, description)));
    }
    if (first?.includes('/')) return plain(kinds.map(({ plural }) => `${plural}/`));
    const kind = takesTypes ? (first ?? '') : 'diagnoses';
    return isKind(kind) ? plain(await this.#agent.namesOf(kindNamed(kind))) : NOTHING;
  }
}
