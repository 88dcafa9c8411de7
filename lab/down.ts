import { existsSync } from 'node:fs';
import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { checkName, claim, labNames, stateOf } from './known-labs.ts';
import { folderOf } from './lab-folder.ts';
import type { NameOption } from './lab-options.ts';
import { inUse } from './make-lab.ts';
import { checkMachine } from './requirements.ts';
import { takeDown } from './take-down.ts';

/** `kubediag lab down`: leaves nothing of a practice node, nor of any that is dead. */
export async function down(
  options: NameOption & { readonly all?: boolean },
  terminal: Terminal,
): Promise<number> {
  checkMachine('no practice node is taken down');
  const { name, all = false } = options;
  checkName(name);
  const known = await labNames();
  const meant = all ? known : [name];
  for (const each of meant) await end(each, known, terminal);
  const others = known.filter((each) => !meant.includes(each));
  for (const each of others) await clearIfDead(each, terminal);
  if (!meant.some((each) => known.includes(each))) {
    terminal.out(`there is no practice node${all ? '' : ` ${name}`}\n`);
  }
  return 0;
}

async function end(name: string, known: readonly string[], terminal: Terminal): Promise<void> {
  const claimed = await claim(name);
  if (claimed === undefined) throw inUse(name);
  const isThere = existsSync(folderOf(name));
  terminal.progress(`taking down ${name}`);
  await takeDown(name).finally(() => claimed.release());
  if (!isThere && !known.includes(name)) return;
  const how = isThere ? 'is down' : 'was taken down by somebody else meanwhile';
  terminal.out(`practice node ${name} ${how}: nothing of it is left\n`);
}

/** Nobody makes it, for we have its name; so one that is not whole will never be. */
async function clearIfDead(name: string, terminal: Terminal): Promise<void> {
  const claimed = await claim(name, 0);
  if (claimed === undefined) return;
  if ((await stateOf(name)).is !== 'up') {
    await takeDown(name);
    terminal.out(`practice node ${name} was dead already: nothing of it is left\n`);
  }
  claimed.release();
}
