import { isForeground, runForeground } from '../src/lib/process/foreground.ts';
import { onOwnTerminal } from './controlling-terminal.ts';
import { NODE_PATH, runningLab } from './enter.ts';
import type { NameOption } from './lab-options.ts';
import { openNodeEntry } from './node-entry.ts';

export async function run(words: readonly string[], { name }: NameOption): Promise<number> {
  const { program, into, close } = openNodeEntry(await runningLab(name));
  const environment = { ...process.env, PATH: NODE_PATH };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && isForeground();
  const own = isTerminal ? onOwnTerminal(words, environment) : undefined;
  return runForeground({
    program,
    arguments: [...into, ...(own?.words ?? words)],
    environment: own?.environment ?? environment,
    // nsenter waits for its child, and does not pass signals on.
    isReceivedBy: 'its child',
    hasOwnTerminal: own !== undefined,
  }).finally(close);
}
