import type { Command } from 'commander';
import { faults } from '../faults/index.ts';
import { commands, nameOf } from './commands.ts';
import { EXIT } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** `kubediag completion SHELL`: a script made from the commands themselves. */
export function completion(shell: string, terminal: Terminal): number {
  const entries = entriesOf(commands(async () => {}));
  const scripts: Readonly<Record<string, (entries: readonly Entry[]) => string>> = {
    bash,
    zsh,
    fish,
  };
  terminal.out(scripts[shell]?.(entries) ?? '');
  return EXIT.clear;
}

interface Entry {
  /** "check"; of one in a group both words: "lab up". */
  readonly name: string;
  readonly isGroup: boolean;
  readonly description: string;
  readonly options: readonly { readonly flag: string; readonly description: string }[];
  /** Words that may follow the command. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
}

function entriesOf(program: Command): readonly Entry[] {
  const all = program.commands.flatMap((command) => [command, ...command.commands]);
  return all.map((command) => ({
    name: nameOf(command),
    isGroup: command.commands.length > 0,
    description: command.description(),
    options: [...command.options, ...program.options].flatMap(({ long, description }) =>
      long ? [{ flag: long, description }] : [],
    ),
    words: [
      ...command.commands.map((each) => each.name()),
      ...command.registeredArguments.flatMap((argument) => [
        ...(argument.argChoices ?? []),
        ...(argument.name().startsWith('FAULT') ? faults.map(({ id }) => id) : []),
      ]),
    ],
    takesFile: command.registeredArguments.some((argument) => argument.name() === 'FILE'),
  }));
}

/** Those that stand right behind "kubediag". */
function outer(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ name }) => !name.includes(' '));
}

/** A pattern of the shell for the names of all groups. */
function groups(entries: readonly Entry[]): string {
  return entries
    .filter(({ isGroup }) => isGroup)
    .map(({ name }) => name)
    .join('|');
}

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(
    ({ name, options, words, takesFile }) =>
      `    "${name}") words="${[...words, ...options.map(({ flag }) => flag)].join(' ')}"; files=${takesFile} ;;\n`,
  );
  const names = outer(entries)
    .map(({ name }) => name)
    .join(' ');
  return `# bash completion for kubediag: source <(kubediag completion bash)
_kubediag() {
  local here="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words files=false
  case "$command" in
    ${groups(entries)}) [ "$COMP_CWORD" -gt 2 ] && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case "$command" in
${cases.join('')}    *) words="${names} --help --version" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="${names} --help --version"
  COMPREPLY=($(compgen -W "$words" -- "$here"))
  [ "$files" = true ] && COMPREPLY+=($(compgen -f -- "$here"))
}
complete -o filenames -F _kubediag kubediag
`;
}

function zsh(entries: readonly Entry[]): string {
  const quoted = (text: string) => text.replace(/'/g, "'\\''").replace(/:/g, '\\:');
  const list = outer(entries).map(
    ({ name, description }) => `    '${name}:${quoted(description)}'\n`,
  );
  const cases = entries.map(
    ({ name, options, words, takesFile }) =>
      `    "${name}") compadd -- ${[...words, ...options.map(({ flag }) => flag)].join(' ')}${takesFile ? '; _files' : ''} ;;\n`,
  );
  return `#compdef kubediag
# zsh completion for kubediag: source <(kubediag completion zsh)
_kubediag() {
  local -a commands
  commands=(
${list.join('')}  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local command="$words[2]"
  case "$command" in
    ${groups(entries)}) (( CURRENT > 3 )) && command="$command $words[3]" ;;
  esac
  case "$command" in
${cases.join('')}  esac
}
compdef _kubediag kubediag
`;
}

function fish(entries: readonly Entry[]): string {
  const quoted = (text: string) => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  const lines = entries.flatMap(({ name, isGroup, description, options, words, takesFile }) => {
    const here = `complete -c kubediag -n '${fishPlace(name, entries)}'`;
    return [
      ...fishName(name, quoted(description)),
      ...(takesFile ? [] : [`${here} -f`]),
      ...(words.length > 0 && !isGroup ? [`${here} -a ${quoted(words.join(' '))}`] : []),
      ...options.map(
        (option) => `${here} -l ${option.flag.slice(2)} -d ${quoted(option.description)}`,
      ),
    ];
  });
  return `# fish completion for kubediag: kubediag completion fish | source\n${lines.join('\n')}\n`;
}

/** Where a name itself is completed. */
function fishName(name: string, description: string): readonly string[] {
  const [first, second] = name.split(' ');
  if (second === undefined) {
    return [`complete -c kubediag -n __fish_use_subcommand -f -a ${first} -d ${description}`];
  }
  const place = `test (count (commandline -opc)) -eq 2; and __fish_seen_subcommand_from ${first}`;
  return [`complete -c kubediag -n '${place}' -f -a ${second} -d ${description}`];
}

/** A word such as "run" is a command by itself, and another in a group. */
function fishPlace(name: string, entries: readonly Entry[]): string {
  const seen = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const others = entries.filter((entry) => entry.name.endsWith(` ${name}`));
  const not = others.map((entry) => `not __fish_seen_subcommand_from ${entry.name.split(' ')[0]}`);
  return [...not, ...seen].join('; and ');
}
