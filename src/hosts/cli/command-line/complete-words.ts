import type { Command, Option } from 'commander';
import { faults } from '../../../node/faults/index.ts';
import { kinds } from '../../../pipeline/api/kinds.ts';
import { AgentNames } from '../agent-client/agent-names.ts';
import { commands } from './commands.ts';
import { isKind, kindNamed } from './kind-named.ts';
import { OUTPUT_FORMATS } from './output-formats.ts';

/** What the lab knows of its own words; the command line must not reach it by itself. */
export interface LabCompletions {
  readonly variantsOf: (fault: string) => readonly string[];
  readonly lookAlikes: () => readonly string[];
  readonly cases: () => readonly string[];
  readonly nodes: () => Promise<readonly string[]>;
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
export async function completionsFor(
  words: readonly string[],
  labCompletions: () => Promise<LabCompletions>,
): Promise<Completions> {
  const here = words.at(-1) ?? '';
  const typed = typedIn(words.slice(0, -1));
  const sources = new Sources(typed, labCompletions);
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
    const help = command.parent ? [] : [described('help', 'Show what a command does')];
    return listed([...members, ...help]);
  }
  const { registeredArguments } = command;
  const argument = registeredArguments[positional.length] ?? registeredArguments.at(-1);
  if (!argument || (positional.length >= registeredArguments.length && !argument.variadic)) {
    return NOTHING;
  }
  if (argument.argChoices) return listed(argument.argChoices.map((word) => ({ word })));
  return sources.argumentsNamed(argument.name(), here);
}

function typedIn(words: readonly string[]): Typed {
  let command: Command = commands(async () => {});
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
const WAITS = ['condition=', 'jsonpath=', 'delete', 'create'];

/** Where words come from that no definition of a command holds. */
class Sources {
  readonly #typed: Typed;
  readonly #labCompletions: () => Promise<LabCompletions>;
  readonly #agent: AgentNames;

  constructor(typed: Typed, labCompletions: () => Promise<LabCompletions>) {
    this.#typed = typed;
    this.#labCompletions = labCompletions;
    this.#agent = new AgentNames(typed.options);
  }

  async valuesOf(option: Option): Promise<Completions> {
    if (option.argChoices) return plain(option.argChoices);
    const { command, positional } = this.#typed;
    const isOfLab = command.parent?.name() === 'lab';
    switch (option.long) {
      case '--output':
        return plain(OUTPUT_FORMATS);
      case '--for':
        return plain(WAITS);
      case '--variant':
        return plain((await this.#labCompletions()).variantsOf(positional[0] ?? ''));
      case '--look-alike':
        return plain((await this.#labCompletions()).lookAlikes());
      case '--namespace':
        return plain(await this.#agent.namespaces());
      case '--name':
        return isOfLab ? plain(await (await this.#labCompletions()).nodes()) : NOTHING;
      default:
        return OF_FILES.has(PLACEHOLDER.exec(option.flags)?.[1] ?? '') ? FILES : NOTHING;
    }
  }

  async argumentsNamed(name: string, here: string): Promise<Completions> {
    switch (name) {
      case 'FAULT':
        if (this.#typed.command.name() === 'break' && here.includes('/')) {
          return this.#variants(here);
        }
        return listed(faults.map(({ id, title }) => described(id, title)));
      case 'FAULT|SYMPTOM':
        return listed(faults.map(({ id, title }) => described(id, title)));
      case 'CASE':
        return plain((await this.#labCompletions()).cases());
      case 'TYPE[/NAME]':
      case 'NAME':
        return this.#objects(here);
      case 'KEY':
        return plain(await this.#agent.resultsOf(this.#typed.positional[0] ?? ''));
      default:
        return OF_FILES.has(name) ? FILES : NOTHING;
    }
  }

  /** `FAULT/VARIANT`, as `lab break` takes it. */
  async #variants(here: string): Promise<Completions> {
    const [fault = ''] = here.split('/');
    const variants = (await this.#labCompletions()).variantsOf(fault);
    return plain(variants.map((variant) => `${fault}/${variant}`));
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
