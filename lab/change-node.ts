import { defined } from '../src/lib/std/defined.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import { cleanUpOnSignal } from '../src/lib/terminal/stop-on-signal.ts';
import { type Terminal, UsageError } from '../src/lib/terminal/terminal.ts';
import { type Break, titleOf } from './break.ts';
import { breaks, findBreak } from './breaks/index.ts';
import { runningLab } from './enter.ts';
import { type Healed, WRITTEN } from './heal.ts';
import type { RunningLab } from './known-labs.ts';
import { SET_UP_MS } from './limits.ts';
import { openSession } from './node-session.ts';
import { Refusal } from './refusal.ts';
import { type NameOption, nameOption } from './settings.ts';
import { stoppedParts, stoppedText } from './stopped-parts.ts';

export interface BreakOptions extends NameOption {
  readonly variant?: string;
  readonly lookAlike?: string;
}

export async function breakNode(
  args: readonly string[],
  options: BreakOptions,
  terminal: Terminal,
): Promise<number> {
  const asked = requestedBreaks(breaks, args, options);
  if (asked.length === 0) {
    terminal.out(listed(breaks));
    return 0;
  }
  const { name } = options;
  const lab = await runningLab(name);
  for (const each of asked) checkPossible(breaks, each, lab);
  await checkRuns(lab);
  terminal.progress(`breaking: ${asked.map(({ form }) => form.fault).join(', ')}`);
  const request = asked.flatMap(({ isAny, form: { kind, fault, variant } }) => [
    ...[kind, fault, isAny ? '' : variant],
  ]);
  const failed = `practice node ${name} was not broken`;
  const timeMs = asked.length * SET_UP_MS;
  const created = (await change(failed, lab, ['break', ...request], timeMs)) as readonly string[];
  terminal.progress('');
  const chosen = created.map(findBreak);
  for (const each of chosen)
    terminal.out(`practice node ${name} has ${titleOf(each)}: ${each.about}\n`);
  terminal.hint(nextSteps(chosen, name));
  return 0;
}

interface Asked {
  readonly form: Break;
  /** The user named no variant: any that is compatible with the other breaks will do. */
  readonly isAny: boolean;
}

/** Each argument is a fault, or a fault and a variant: "dead-volume-mount/csi-active". */
export function requestedBreaks(
  all: readonly Break[],
  args: readonly string[],
  options: Pick<BreakOptions, 'variant' | 'lookAlike'>,
): readonly Asked[] {
  const [first, ...more] = args;
  if (more.length === 0) return requestedBreak(all, first, options);
  if (options.variant !== undefined) {
    wrong(`--variant takes one fault; for several faults write ${first}/${options.variant}`);
  }
  return args.flatMap((word) => requestedBreak(all, word, options));
}

function requestedBreak(
  all: readonly Break[],
  word: string | undefined,
  { variant, lookAlike }: Pick<BreakOptions, 'variant' | 'lookAlike'>,
): readonly Asked[] {
  const [fault, form = variant] = word?.split('/') ?? [];
  const isAny = form === undefined && lookAlike === undefined;
  const chosen = chooseBreak(all, fault, defined({ variant: form, lookAlike }));
  return chosen === undefined ? [] : [{ form: chosen, isAny }];
}

/** Commands that the user can run next on the broken node. */
export function nextSteps(
  created: readonly Pick<Break, 'kind' | 'fault' | 'expected'>[],
  name: string,
): string {
  const of = nameOption(name);
  const [first, ...others] = created;
  if (!first || others.length > 0) {
    return (
      `  find them    kubediag lab run${of} -- kubediag check\n` +
      `  repair them  kubediag lab run${of} -- kubediag recover\n` +
      `  undo them    kubediag lab heal${of}\n`
    );
  }
  const { kind, fault, expected } = first;
  const repair =
    expected.repair === 'refused'
      ? 'no automatic repair: the check says what to do'
      : `kubediag lab run${of} -- kubediag recover ${fault}`;
  const steps =
    kind === 'fault'
      ? `  find it    kubediag lab run${of} -- kubediag check ${fault}\n  repair it  ${repair}\n`
      : `  check it   kubediag lab run${of} -- kubediag check ${fault}\n` +
        '             The check must not report a fault: there is nothing to repair.\n';
  return `${steps}  undo it    kubediag lab heal${of}\n`;
}

/** Without its daemons a break would have no effect and wait until its timeout. */
async function checkRuns(lab: RunningLab): Promise<void> {
  const stopped = await stoppedParts(lab);
  if (stopped.length === 0) return;
  throw new Refusal(
    `practice node ${lab.name} was not broken`,
    stoppedText(stopped),
    `heal it first: kubediag lab heal --name ${lab.name}`,
  );
}

/** Refuses breaks that a real kubelet of this version cannot have, and lists those it can have. */
export function checkPossible(
  all: readonly Break[],
  { form: { kind, fault, variant, leftOut }, isAny }: Asked,
  { name, settings }: Pick<RunningLab, 'name' | 'settings'>,
): void {
  const why = leftOut?.(settings);
  const others = all.filter(
    (each) => each.kind === kind && each.fault === fault && each.leftOut?.(settings) === undefined,
  );
  if (why === undefined || (isAny && others.length > 0)) return;
  const option = kind === 'fault' ? `${fault} --variant` : '--look-alike';
  const possible = others.map((each) => each.variant).join(', ');
  const instead = `possible here: kubediag lab break --name ${name} ${option} with one of ${possible}; or `;
  throw new Refusal(
    `practice node ${name} cannot have ${fault} (${variant})`,
    why,
    (possible === '' ? '' : instead) +
      'create another node with the stand-in kubelet: kubediag lab up --name OTHER, without --kubelet',
  );
}

/**
 * `kubediag lab heal`: undoes every break. It cannot undo all changes that a user made, and says so.
 */
export async function healNode(
  { name }: NameOption,
  terminal: Terminal,
  stop = cleanUpOnSignal(),
): Promise<number> {
  const lab = await runningLab(name);
  const stopped = await stoppedParts(lab);
  if (stopped.length > 0) terminal.out(`practice node ${name}: ${stoppedText(stopped)}\n`);
  // An interrupted heal would leave the node without kubelet and runtime, so a signal has to wait.
  stop.addEventListener('abort', () => terminal.err(FINISHED_FIRST), { once: true });
  terminal.progress('healing');
  const failed = `practice node ${name} was not healed`;
  const { agents } = (await change(failed, lab, ['heal'], SET_UP_MS)) as Healed;
  terminal.progress('');
  terminal.out(`${healed(name, agents)}\n${agents.map(storedAgent).join('')}`);
  return 0;
}

const FINISHED_FIRST =
  'finishing first: an interrupted heal would leave no kubelet and no runtime\n';

function storedAgent({ pid, stateFolder }: Healed['agents'][number]): string {
  return `The agent (process ${pid} there) still runs; its directory ${stateFolder} was not touched.\n`;
}

/** In lines of at most 80 columns. */
export function healed(name: string, agents: Healed['agents'] = []): string {
  const of = nameOption(name);
  const stored = agents.map(({ stateFolder }) => stateFolder);
  const restored = WRITTEN.filter((folder) => !stored.includes(folder));
  return [
    `practice node ${name} is healed. Restored to the initial state:`,
    '  its processes and mounts, the runtime, the kubelet and the pods;',
    '  /bin, the entries of /, and all files below',
    `  ${restored.slice(0, HALF).join(' ')}`,
    `  ${restored.slice(HALF).join(' ')}`,
    'Other changes, such as in /etc, /usr or the host name, stay until the node is',
    `created again: kubediag lab down${of}; kubediag lab up${of}`,
  ].join('\n');
}

const HALF = 4;

/** Turns a failure on the node into a refusal with advice: the user can create the node again. */
async function change(
  failed: string,
  lab: RunningLab,
  request: readonly string[],
  limitMs: number,
): Promise<unknown> {
  const { name } = lab;
  const session = openSession(lab);
  try {
    return await session.request(request, limitMs);
  } catch (error) {
    const stopped = await stoppedParts(lab).catch(() => []);
    const state = stopped.length === 0 ? '' : `; ${stoppedText(stopped)}`;
    throw new Refusal(
      failed,
      `${messageOf(error)}${state}`,
      `heal it first: kubediag lab heal --name ${name}; or remove it: kubediag lab down --name ${name}`,
    );
  } finally {
    session.close();
  }
}

/** The break that the arguments name; undefined without arguments. */
export function chooseBreak(
  all: readonly Break[],
  fault: string | undefined,
  { variant, lookAlike }: Pick<BreakOptions, 'variant' | 'lookAlike'>,
): Break | undefined {
  if (lookAlike !== undefined) {
    const other = fault === undefined ? variant && `--variant ${variant}` : `the fault ${fault}`;
    if (other) wrong(`--look-alike ${lookAlike}: cannot be combined with ${other}`);
    const found = all.find((each) => each.kind === 'look-alike' && each.variant === lookAlike);
    return found ?? wrong(`no such look-alike: "${lookAlike}"`);
  }
  if (fault === undefined) {
    return variant === undefined ? undefined : wrong('--variant needs a fault');
  }
  const forms = all.filter((each) => each.kind === 'fault' && each.fault === fault);
  if (forms.length === 0) wrong(`no such fault: "${fault}"`);
  const chosen = variant === undefined ? forms[0] : forms.find((each) => each.variant === variant);
  const known = forms.map((each) => each.variant).join(', ');
  return chosen ?? wrong(`${fault} has no variant "${variant}"; it has ${known}`);
}

function wrong(what: string): never {
  throw new UsageError(`${what}. To list all: kubediag lab break`);
}

function listed(all: readonly Break[]): string {
  const lines = (kind: Break['kind']) => (each: Break) =>
    each.kind === kind ? [`  ${each.variant.padEnd(28)}${each.about}`] : [];
  const ids = [...new Set(all.map(({ fault }) => fault))];
  const faults = ids.flatMap((id) => [
    `${id}: kubediag lab break ${id} --variant NAME`,
    ...all.filter(({ fault }) => fault === id).flatMap(lines('fault')),
    '',
  ]);
  const others = all.flatMap(lines('look-alike'));
  return `${[...faults, 'look-alikes: kubediag lab break --look-alike NAME', ...others].join('\n')}\n`;
}
