import type { Command } from 'commander';
import { faults } from '../faults/index.ts';
import { commands } from './commands.ts';
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
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flag: string; readonly description: string }[];
  /** Words that may follow the command. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
}

function entriesOf(program: Command): readonly Entry[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: [...command.options, ...program.options].flatMap(({ long, description }) =>
      long ? [{ flag: long, description }] : [],
    ),
    words: command.registeredArguments.flatMap((argument) => [
      ...(argument.argChoices ?? []),
      ...(argument.name().startsWith('FAULT') ? faults.map(({ id }) => id) : []),
    ]),
    takesFile: command.registeredArguments.some((argument) => argument.name() === 'FILE'),
  }));
}

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(
    ({ name, options, words, takesFile }) =>
      `    ${name}) words="${[...words, ...options.map(({ flag }) => flag)].join(' ')}"; files=${takesFile} ;;\n`,
  );
  return `# bash completion for kubediag: source <(kubediag completion bash)
_kubediag() {
  local here="\${COMP_WORDS[COMP_CWORD]}" words files=false
  case "\${COMP_WORDS[1]}" in
${cases.join('')}    *) words="${entries.map(({ name }) => name).join(' ')} --help --version" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="${entries.map(({ name }) => name).join(' ')} --help --version"
  COMPREPLY=($(compgen -W "$words" -- "$here"))
  [ "$files" = true ] && COMPREPLY+=($(compgen -f -- "$here"))
}
complete -o filenames -F _kubediag kubediag
`;
}

function zsh(entries: readonly Entry[]): string {
  const quoted = (text: string) => text.replace(/'/g, "'\\''").replace(/:/g, '\\:');
  const list = entries.map(({ name, description }) => `    '${name}:${quoted(description)}'\n`);
  const cases = entries.map(
    ({ name, options, words, takesFile }) =>
      `    ${name}) compadd -- ${[...words, ...options.map(({ flag }) => flag)].join(' ')}${takesFile ? '; _files' : ''} ;;\n`,
  );
  return `#compdef kubediag
# zsh completion for kubediag: source <(kubediag completion zsh)
_kubediag() {
  local -a commands
  commands=(
${list.join('')}  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join('')}  esac
}
compdef _kubediag kubediag
`;
}

function fish(entries: readonly Entry[]): string {
  const quoted = (text: string) => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`;
  const lines = entries.flatMap(({ name, description, options, words, takesFile }) => {
    const here = `complete -c kubediag -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c kubediag -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...(takesFile ? [] : [`${here} -f`]),
      ...(words.length > 0 ? [`${here} -a ${quoted(words.join(' '))}`] : []),
      ...options.map(
        (option) => `${here} -l ${option.flag.slice(2)} -d ${quoted(option.description)}`,
      ),
    ];
  });
  return `# fish completion for kubediag: kubediag completion fish | source\n${lines.join('\n')}\n`;
}
