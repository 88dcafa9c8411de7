import { checkName, claim, labNames, stateOf } from './known-labs.ts';
import type { NameOption } from './lab-options.ts';
import type { LabTerminal } from './lab-terminal.ts';
import { inUse } from './make-lab.ts';
import { checkMachine } from './requirements.ts';
import { takeDown } from './take-down.ts';

/** `kubediag lab down`: leaves nothing of a practice node, nor of any that is dead. */
export async function down(
  options: Partial<NameOption> & { readonly all?: boolean },
  terminal: LabTerminal,
): Promise<number> {
  checkMachine('no practice node is taken down');
  const { name = 'practice', all = false } = options;
  checkName(name);
  const names = await labNames();
  let ended = 0;
  for (const each of new Set([name, ...names])) {
    const isMeant = all || each === name;
    const claimed = await claim(each);
    if (claimed === undefined) {
      if (isMeant) throw inUse(each);
      continue;
    }
    const isDead = (await stateOf(each)).is === 'dead';
    if (isMeant || isDead) {
      terminal.progress(`taking down ${each}`);
      await takeDown(each);
      if (names.includes(each)) {
        ended += 1;
        const was = isMeant ? '' : ', which was dead already';
        terminal.out(`practice node ${each} is down${was}: nothing of it is left\n`);
      }
    }
    claimed.release();
  }
  if (ended === 0)
    terminal.out(all ? 'there is no practice node\n' : `there is no practice node ${name}\n`);
  return 0;
}
