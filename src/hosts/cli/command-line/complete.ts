import type { Command, Option } from 'commander';
import { printable } from '../../../lib/std/printable.ts';
import type { CommandSpec } from '../../../lib/terminal/command-spec.ts';
import { faults } from '../../../node/faults/index.ts';
import { kinds } from '../../../pipeline/api/kinds.ts';
import { namesOf, namespaces, resultsOf } from '../agent-client/agent-names.ts';
import { commandSections, type OtherHosts } from './commands.ts';
import { isKind, kindNamed } from './kind-named.ts';
import { Program } from './program.ts';

/**
 * `kubediag __complete SHELL WORD...`: first a line that says whether files fit too, or that no space
 * follows; then a word in each line, and its description behind a tab.
 */
export async function complete(
  [shell = '', ...given]: readonly string[],
  { lab, ...hosts }: OtherHosts,
): Promise<string> {
  const words = shell === 'bash' ? rejoined(given) : given;
  const here = words.at(-1) ?? '';
  const program = new Program(commandSections(hosts, await lab()));
  const found = await candidates(here, typedIn(words.slice(0, -1), program));
  if (found === 'files') return 'files\n';
  const fitting = found.filter(({ word }) => word.startsWith(here));
  const isOpen = fitting.some(({ word }) => /[=/]$/.test(word));
  // bash takes what stands behind "=" for a word of its own.
  const before = shell === 'bash' ? (here.match(/^.*=/s)?.[0].length ?? 0) : 0;
  const lines = fitting.map(({ word, description }) => {
    const text = printable(word.slice(before));
    return description === undefined ? text : `${text}\t${printable(description)}`;
  });
  return [isOpen ? 'nospace' : 'words', ...lines].map((line) => `${line}\n`).join('');
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

interface Completion {
  readonly word: string;
  readonly description?: string;
}

/** What may stand in the place of the last word: one of these, or the name of a file. */
type Completions = readonly Completion[] | 'files';

/** What was typed up to the last word, as the commands understand it. */
interface Typed {
  readonly command: Command;
  readonly spec: CommandSpec | undefined;
  readonly positional: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  /** The option whose value the last word is, if it is one. */
  readonly open: Option | undefined;
}

/** Every word that can be where this one is, also those that do not begin like it. */
async function candidates(here: string, typed: Typed): Promise<Completions> {
  const { command, open, positional } = typed;
  // An option whose value may be left out can be followed by another option.
  if (open?.required || (open && !here.startsWith('-'))) return valuesOf(open, typed);
  const [, flag = ''] = /^(--[\w-]+)=/.exec(here) ?? [];
  const option = optionNamed(flag, command);
  if (option) {
    const values = await valuesOf(option, typed);
    return values === 'files'
      ? values
      : values.map((each) => ({ ...each, word: `${flag}=${each.word}` }));
  }
  if (here.startsWith('-')) {
    return optionsOf(command).flatMap(({ long, description }) =>
      long ? [{ word: long, description }] : [],
    );
  }
  if (command.commands.length > 0) {
    // Behind a word that is no command nothing can be right; behind "help" every command is.
    if (positional.some((word) => word !== 'help')) return [];
    const help = { word: 'help', description: 'Show the help of a command' };
    return [
      ...command.commands.map((each) => ({ word: each.name(), description: each.description() })),
      ...(command.parent ? [] : [help]),
    ];
  }
  const { registeredArguments } = command;
  const index = Math.min(positional.length, registeredArguments.length - 1);
  const argument = registeredArguments[index];
  if (!argument || (positional.length >= registeredArguments.length && !argument.variadic)) {
    return [];
  }
  if (argument.argChoices) return plain(argument.argChoices);
  return argumentsFor(argument.name(), index, here, typed);
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
  const spec = program.specOf(command);
  return { command, spec: spec && 'load' in spec ? spec : undefined, positional, options, open };
}

function optionsOf(command: Command): readonly Option[] {
  const above = command.parent ? optionsOf(command.parent) : [];
  return [...command.options, ...above];
}

function optionNamed(flag: string, command: Command): Option | undefined {
  return optionsOf(command).find(({ long, short }) => flag === long || flag === short);
}

function plain(words: readonly string[]): Completions {
  return words.map((word) => ({ word }));
}

// --state-dir <DIR>, -f, --filename <FILE...>
const PLACEHOLDER = /<([A-Z/:=]+)(?:\.\.\.)?>/;

function filesFor(placeholder: string): Completions {
  const isFile = ['FILE', 'DIR', 'PATH', 'SOCKET', 'DUMP', 'PROFILE'].includes(placeholder);
  return isFile ? 'files' : [];
}

async function valuesOf(option: Option, { spec, positional, options }: Typed) {
  if (option.argChoices) return plain(option.argChoices);
  const own = spec?.options.find(({ flags }) => flags === option.flags)?.complete;
  const words = await own?.('', positional);
  if (words) return plain(words);
  if (option.long === '--namespace') return plain(await namespaces(options));
  return filesFor(PLACEHOLDER.exec(option.flags)?.[1] ?? '');
}

async function argumentsFor(name: string, index: number, here: string, typed: Typed) {
  const { spec, positional, options } = typed;
  const words = await spec?.arguments[index]?.complete?.(here, positional);
  if (words) return plain(words);
  switch (name) {
    case 'FAULT':
    case 'FAULT|SYMPTOM':
      return faults.map(({ id, title }) => ({ word: id, description: title }));
    case 'TYPE[/NAME]':
    case 'NAME':
      return objectsFor(here, typed);
    case 'KEY':
      return plain(await resultsOf(positional[0] ?? '', options));
    default:
      return filesFor(name);
  }
}

/** `TYPE`, then names of it; or `TYPE/NAME` in every place. */
async function objectsFor(here: string, { command, positional, options }: Typed) {
  const [type = '', name] = here.split('/');
  if (name !== undefined) {
    const names = isKind(type) ? await namesOf(kindNamed(type), options) : [];
    return plain(names.map((each) => `${type}/${each}`));
  }
  const [first] = positional;
  const takesTypes = command.registeredArguments[0]?.name() === 'TYPE[/NAME]';
  if (takesTypes && first === undefined) {
    return kinds.map(({ plural, description }) => ({ word: plural, description }));
  }
  if (first?.includes('/')) return plain(kinds.map(({ plural }) => `${plural}/`));
  const kind = takesTypes ? (first ?? '') : 'diagnoses';
  return isKind(kind) ? plain(await namesOf(kindNamed(kind), options)) : [];
}
