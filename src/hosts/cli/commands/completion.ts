import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';

/** The hidden command that the scripts below call. */
const COMPLETE = '__complete';

export function completion([shell = '']: readonly string[], terminal: Terminal): number {
  const scripts: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
  terminal.out(scripts[shell] ?? '');
  return EXIT.clear;
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
# Loaded from a directory of functions, the first Tab runs this file itself.
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
