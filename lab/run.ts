import { realpathSync } from 'node:fs';
import { isForeground, runForeground } from '../src/lib/process/foreground.ts';
import { systemProgram } from '../src/lib/process/run.ts';
import { NODE_PATH, runningLab } from './enter.ts';
import { openNodeEntry } from './node-entry.ts';
import type { NameOption } from './settings.ts';

export async function run(words: readonly string[], { name }: NameOption): Promise<number> {
  const { program, into, close } = openNodeEntry(await runningLab(name));
  const environment = { ...process.env, PATH: NODE_PATH };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && isForeground();
  const own = isTerminal ? onOwnTerminal(words, environment) : undefined;
  return runForeground({
    program,
    arguments: [...into, ...(own?.words ?? words)],
    environment: own?.environment ?? environment,
    // nsenter waits for its child, but does not forward signals to it.
    isReceivedBy: 'its child',
    hasOwnTerminal: own !== undefined,
  }).finally(close);
}

interface Start {
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * The same command on a terminal that belongs to the node. Our terminal has no path on the node,
 * and its foreground process no PID, so a shell would exit at once. `script` creates another
 * terminal of the same size, passes every key on, and returns the exit status of the command.
 * Undefined without `script`, and with that of BusyBox, which does not return the exit status.
 */
function onOwnTerminal(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Start | undefined {
  const [script, sh] = [systemProgram('script'), systemProgram('sh')];
  if (!script || !sh || realpathSync(script).endsWith('busybox')) return undefined;
  const { SHELL: shell } = environment;
  // script passes the line to $SHELL, whose quoting rules may differ: use sh.
  const restore = shell === undefined ? 'unset SHELL' : `SHELL=${quoted(shell)}`;
  const line = `${restore}; exec ${words.map(quoted).join(' ')}`;
  return {
    words: [script, '--quiet', '--return', '--command', line, '/dev/null'],
    environment: { ...environment, SHELL: sh },
  };
}

/** One argument, quoted for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
