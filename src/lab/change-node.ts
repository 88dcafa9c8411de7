import { messageOf } from '../std/message-of.ts';
import type { Break } from './break.ts';
import { breaks } from './breaks/index.ts';
import { enterAndRun, standingLab } from './enter.ts';
import type { NameOption } from './lab-options.ts';
import type { LabTerminal } from './lab-terminal.ts';
import { FURNISH_MS } from './limits.ts';
import { Refusal, WrongWords } from './refusal.ts';

export interface BreakOptions extends NameOption {
  readonly variant?: string;
  readonly lookAlike?: string;
}

/** `kubediag lab break`: in one of the ways that we know; without words it tells which those are. */
export async function breakNode(
  fault: string | undefined,
  options: BreakOptions,
  terminal: LabTerminal,
): Promise<number> {
  const chosen = chooseBreak(breaks, fault, options);
  if (chosen === undefined) {
    terminal.out(listed(breaks));
    return 0;
  }
  const { name } = options;
  const lab = await standingLab(name);
  terminal.progress(`breaking: ${chosen.about}`);
  const { kind, fault: id, variant } = chosen;
  await change(`practice node ${name} is not broken`, name, () =>
    enterAndRun(lab, ['break', kind, id, variant], FURNISH_MS),
  );
  terminal.progress('');
  const of = name === 'practice' ? '' : ` --name ${name}`;
  const what = kind === 'fault' ? `${id} (${variant})` : `what only resembles ${id} (${variant})`;
  terminal.out(`practice node ${name} has ${what}: ${chosen.about}\n`);
  terminal.hint(
    `  find it    kubediag lab run${of} -- kubediag check ${id}\n` +
      `  cure it    kubediag lab run${of} -- kubediag recover ${id}\n` +
      `  undo it    kubediag lab heal${of}\n`,
  );
  return 0;
}

/** `kubediag lab heal`: takes the practice node back to what it was when it was made. */
export async function healNode({ name }: NameOption, terminal: LabTerminal): Promise<number> {
  const lab = await standingLab(name);
  terminal.progress('healing');
  await change(`practice node ${name} is not healed`, name, () =>
    enterAndRun(lab, ['heal'], FURNISH_MS),
  );
  terminal.progress('');
  terminal.out(`practice node ${name} is as it was when it was made\n`);
  return 0;
}

/** What does not come about on the node is told with a way out: it can always be made anew. */
async function change(what: string, name: string, act: () => Promise<void>): Promise<void> {
  await act().catch((error: unknown) => {
    throw new Refusal(
      what,
      messageOf(error),
      `heal it: kubediag lab heal --name ${name}; or make it anew: kubediag lab down --name ${name}`,
    );
  });
}

/** The way that the words name; undefined when there are no words. */
export function chooseBreak(
  all: readonly Break[],
  fault: string | undefined,
  { variant, lookAlike }: Pick<BreakOptions, 'variant' | 'lookAlike'>,
): Break | undefined {
  if (lookAlike !== undefined) {
    const found = all.find((each) => each.kind === 'look-alike' && each.variant === lookAlike);
    return found ?? wrong(`no look-alike is called "${lookAlike}"`);
  }
  if (fault === undefined) {
    return variant === undefined ? undefined : wrong('--variant is of a fault, and none is named');
  }
  const forms = all.filter((each) => each.kind === 'fault' && each.fault === fault);
  if (forms.length === 0) wrong(`no fault is called "${fault}"`);
  const chosen = variant === undefined ? forms[0] : forms.find((each) => each.variant === variant);
  const known = forms.map((each) => each.variant).join(', ');
  return chosen ?? wrong(`${fault} has no variant "${variant}", but ${known}`);
}

function wrong(what: string): never {
  throw new WrongWords(`${what}. To see all: kubediag lab break`);
}

function listed(all: readonly Break[]): string {
  const lines = (kind: Break['kind']) => (each: Break) =>
    each.kind === kind ? [`  ${each.variant.padEnd(28)}${each.about}`] : [];
  const ids = [...new Set(all.map(({ fault }) => fault))];
  const faults = ids.flatMap((id) => [
    `${id}: kubediag lab break ${id} --variant ...`,
    ...all.filter(({ fault }) => fault === id).flatMap(lines('fault')),
    '',
  ]);
  const others = all.flatMap(lines('look-alike'));
  return `${[...faults, 'what only looks so: kubediag lab break --look-alike ...', ...others].join('\n')}\n`;
}
