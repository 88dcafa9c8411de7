import { isForeground, runForeground } from '../src/lib/process/foreground.ts';
import { NODE_PATH, standingLab } from './enter.ts';
import type { NameOption } from './lab-options.ts';
import { onOwnTerminal } from './own-terminal.ts';
import { openWayIn } from './way-in.ts';

/** `kubediag lab run -- COMMAND`: any command, on the practice node, with this terminal. */
export async function run(words: readonly string[], { name }: NameOption): Promise<number> {
  const { program, into, close } = openWayIn(await standingLab(name));
  const environment = { ...process.env, PATH: NODE_PATH };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && isForeground();
  const own = isTerminal ? onOwnTerminal(words, environment) : undefined;
  return runForeground({
    program,
    arguments: [...into, ...(own?.words ?? words)],
    environment: own?.environment ?? environment,
    // nsenter waits outside for who is inside, and does not pass signals on.
    isHeardBy: 'its child',
    hasOwnTerminal: own !== undefined,
  }).finally(close);
}
