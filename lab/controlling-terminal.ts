import { realpathSync } from 'node:fs';
import { systemProgram } from '../src/lib/process/system-program.ts';

interface Start {
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * The same command on a terminal that belongs to the node. Ours lies on no path there, and whom it calls
 * its foreground has no number there: a shell would end at once. `script` makes another one, has it
 * follow ours in size, lets every key through, Ctrl-C too, and ends as the command does. Undefined where
 * there is none, or only that of BusyBox, which does not tell how a command ended.
 */
export function onOwnTerminal(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Start | undefined {
  const [script, sh] = [systemProgram('script'), systemProgram('sh')];
  if (!script || !sh || realpathSync(script).endsWith('busybox')) return undefined;
  const { SHELL: shell } = environment;
  // script has the shell of the person read the line, which may quote in ways of its own: ours does.
  const restore = shell === undefined ? 'unset SHELL' : `SHELL=${quoted(shell)}`;
  const line = `${restore}; exec ${words.map(quoted).join(' ')}`;
  return {
    words: [script, '--quiet', '--return', '--command', line, '/dev/null'],
    environment: { ...environment, SHELL: sh },
  };
}

/** One word for a shell, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
