import { printable } from '../../../lib/std/printable.ts';
import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { completionsFor, type LabCompletions } from '../command-line/complete-words.ts';

/** The word by which the scripts below ask this program what could be typed. */
const COMPLETE = '__complete';

/** `kubediag completion SHELL`: a script that asks this program at every Tab. */
export function completion(shell: string, terminal: Terminal): number {
  const scripts: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
  terminal.out(scripts[shell] ?? '');
  return EXIT.clear;
}

/**
 * `kubediag __complete SHELL WORD...`: first a line that says whether files fit too, or that no space
 * follows; then a word in each line, and its description behind a tab.
 */
export async function complete(
  [shell = '', ...given]: readonly string[],
  labCompletions: () => Promise<LabCompletions>,
): Promise<string> {
  const typed = shell === 'bash' ? rejoined(given) : given;
  const { words, files } = await completionsFor(typed, labCompletions);
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

const BASH = `# bash completion for kubediag: source <(kubediag completion bash)
_kubediag() {
  local here="\${COMP_WORDS[COMP_CWORD]}" line
  local -a found
  [ "$here" = "=" ] && here=""
  mapfile -t found < <("\${COMP_WORDS[0]}" ${COMPLETE} bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  case "\${found[0]}" in
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$here")
      ;;
    nospace) compopt -o nospace 2>/dev/null ;;
  esac
  for line in "\${found[@]:1}"; do
    line="\${line%%$'\\t'*}"
    [[ "$line" == "$here"* ]] && COMPREPLY+=("$line")
  done
}
complete -F _kubediag kubediag
`;

const ZSH = `#compdef kubediag
# zsh completion for kubediag: source <(kubediag completion zsh)
_kubediag() {
  local kind line tab=$'\\t'
  local -a lines found space
  lines=("\${(@f)$("\${words[1]}" ${COMPLETE} zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  kind="\${lines[1]}"
  for line in "\${(@)lines[2,-1]}"; do
    line="\${line//:/\\\\:}"
    found+=("\${line/$tab/:}")
  done
  [[ "$kind" == nospace ]] && space=(-S '')
  [[ "$kind" == files ]] && _files
  (( \${#found} )) && _describe kubediag found "\${space[@]}"
}
# Loaded from a folder of functions, the first Tab runs this file itself.
if [ "$funcstack[1]" = "_kubediag" ]; then _kubediag "$@"; else compdef _kubediag kubediag; fi
`;

const FISH = `# fish completion for kubediag: kubediag completion fish | source
function __kubediag_complete
  set -l words (commandline -opc)
  set -l here (commandline -ct)
  set -l found (command $words[1] ${COMPLETE} fish $words[2..] "$here" 2>/dev/null)
  test "$found[1]" = files; and __fish_complete_path "$here"
  test (count $found) -gt 1; and printf '%s\\n' $found[2..]
end
complete -c kubediag -f -a '(__kubediag_complete)'
`;
