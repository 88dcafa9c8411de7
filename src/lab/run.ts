import { runForeground } from '../process/foreground.ts';
import { systemProgram } from '../process/system-program.ts';
import { NODE_PATH, standingLab } from './enter.ts';
import { checkName } from './known-labs.ts';
import type { NameOption } from './lab-options.ts';

/** `kubediag lab run -- COMMAND`: any command, on the practice node, with this terminal. */
export async function run(words: readonly string[], { name }: NameOption): Promise<number> {
  checkName(name);
  const lab = await standingLab(name);
  const [enter = '', ...into] = lab.enter;
  return runForeground({
    program: systemProgram(enter) ?? enter,
    arguments: [...into, ...words],
    environment: { ...process.env, PATH: NODE_PATH },
  });
}
