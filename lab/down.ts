import { existsSync } from 'node:fs';
import type { Terminal } from '../src/lib/terminal/terminal.ts';
import { checkName, claim, folderOf, labNames, stateOf } from './known-labs.ts';
import { inUse } from './make-lab.ts';
import { checkMachine } from './requirements.ts';
import type { NameOption } from './settings.ts';
import { takeDown } from './take-down.ts';

export async function down(
  options: NameOption & { readonly all?: boolean },
  terminal: Terminal,
): Promise<number> {
  checkMachine('cannot remove a practice node');
  const { name, all = false } = options;
  checkName(name);
  const known = await labNames();
  const meant = all ? known : [name];
  for (const each of meant) await end(each, known, terminal);
  const others = known.filter((each) => !meant.includes(each));
  for (const each of others) await clearIfDead(each, terminal);
  if (!meant.some((each) => known.includes(each))) {
    terminal.out(`no practice node${all ? '' : ` ${name}`}\n`);
  }
  return 0;
}

async function end(name: string, known: readonly string[], terminal: Terminal): Promise<void> {
  const claimed = await claim(name);
  if (claimed === undefined) throw inUse(name);
  const isThere = existsSync(folderOf(name));
  terminal.progress(`removing ${name}`);
  await takeDown(name).finally(() => claimed.release());
  if (!isThere && !known.includes(name)) return;
  const how = isThere ? 'removed' : 'removed by another process meanwhile';
  terminal.out(`practice node ${name} ${how}: nothing of it is left\n`);
}

/** The caller has claimed the name, so no other process is creating the lab. */
async function clearIfDead(name: string, terminal: Terminal): Promise<void> {
  const claimed = await claim(name, 0);
  if (claimed === undefined) return;
  if ((await stateOf(name)).is !== 'up') {
    await takeDown(name);
    terminal.out(`practice node ${name} was dead; removed its remains\n`);
  }
  claimed.release();
}
