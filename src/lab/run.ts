import { runForeground } from '../process/foreground.ts';
import { NODE_PATH, standingLab } from './enter.ts';
import type { NameOption } from './lab-options.ts';
import { openWayIn } from './way-in.ts';

/** `kubediag lab run -- COMMAND`: any command, on the practice node, with this terminal. */
export async function run(words: readonly string[], { name }: NameOption): Promise<number> {
  const { program, into, close } = openWayIn(await standingLab(name));
  return runForeground({
    program,
    arguments: [...into, ...words],
    environment: { ...process.env, PATH: NODE_PATH },
  }).finally(close);
}
