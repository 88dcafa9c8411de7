import { listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import { namesOf } from '../agent-client/selected-objects.ts';
import { fullName, kindNamed, pathOf } from '../command-line/kind-named.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';
import { plannedLines } from '../screens/recorded-lines.ts';

export interface ApproveOptions extends AgentOptions {
  readonly plan?: string;
  readonly yes?: boolean;
}

const MERGE_PATCH = 'application/merge-patch+json';
const diagnosis = kindNamed('Diagnosis');

export async function cancel(
  args: readonly string[],
  options: AgentOptions,
  terminal: Terminal,
): Promise<number> {
  const names = namesOf(diagnosis, args, 'cancel');
  return changeEach(names, options, terminal, async ({ called, phase, change }) => {
    if (!hasEnded(phase)) return change({ spec: { cancel: true } }, 'cancelled');
    terminal.err(`${called} has already ended (${phase}): nothing to cancel\n`);
    return EXIT.notDone;
  });
}

export async function approve(
  args: readonly string[],
  options: ApproveOptions,
  terminal: Terminal,
): Promise<number> {
  const names = namesOf(diagnosis, args, 'approve');
  if (names.length > 1 && options.plan !== undefined) {
    throw new UsageError('--plan takes the plan of one Diagnosis: approve one at a time');
  }
  return changeEach(names, options, terminal, (found) => approveOne(found, options, terminal));
}

async function approveOne(
  { name, called, value, phase, change }: FoundDiagnosis,
  options: ApproveOptions,
  terminal: Terminal,
): Promise<number> {
  const plan = textAt(value, 'status', 'plan');
  if (plan === undefined || hasEnded(phase)) {
    const state = phase || 'not started';
    terminal.err(`refused: ${called} has no plan that waits for approval (${state})\n`);
    terminal.err(`  do    see its state: kubediag describe diagnosis ${name}\n`);
    return EXIT.notDone;
  }
  if (options.plan !== undefined && options.plan !== plan) {
    terminal.err(`refused: the plan is now ${plan}, not ${printable(options.plan)}\n`);
    terminal.err(`  do    see the new plan: kubediag approve ${name}\n`);
    return EXIT.notDone;
  }
  terminal.out(planText(value, plan, terminal.width));
  if (options.plan === undefined && !options.yes && !(await agreed(plan, terminal))) {
    return EXIT.notDone;
  }
  // If the Diagnosis changes while the person decides, the agent refuses this.
  const metadata = { resourceVersion: textAt(value, 'metadata', 'resourceVersion') };
  return change({ metadata, spec: { approvedPlan: plan } }, `approved (plan ${plan})`);
}

async function agreed(plan: string, terminal: Terminal): Promise<boolean> {
  if (!terminal.isInteractive) {
    terminal.err('refused: no terminal to ask on, so nothing was approved\n');
    terminal.err(`  do    approve the plan that you have seen: --plan ${plan}\n`);
    return false;
  }
  const { signal } = new AbortController();
  if (await terminal.confirm('Approve this plan? [y/N] ', signal)) return true;
  terminal.err('nothing was approved\n');
  return false;
}

function planText(value: unknown, plan: string, width: number): string {
  const planned = (listAt(value, 'status', 'plannedActions') ?? []).filter(
    (each) => textAt(each, 'plan') === plan,
  );
  const lines = planned.flatMap((each) => plannedLines(each, width - 2));
  return `plan ${plan}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Goes on after a failure; the worst exit code counts. */
async function changeEach(
  names: readonly string[],
  options: AgentOptions,
  terminal: Terminal,
  change: (found: FoundDiagnosis) => Promise<number>,
): Promise<number> {
  const codes: number[] = [];
  for (const name of names) {
    const found = await diagnosisNamed(name, options, terminal);
    codes.push(found ? await change(found) : EXIT.notDone);
  }
  return Math.max(...codes);
}

type FoundDiagnosis = NonNullable<Awaited<ReturnType<typeof diagnosisNamed>>>;

async function diagnosisNamed(name: string, options: AgentOptions, terminal: Terminal) {
  const client = await connectAgent(options, terminal);
  if (!client) return undefined;
  const path = pathOf(diagnosis, options.namespace, name);
  const found = await client.ask('GET', path);
  if (!isGranted(found, terminal)) return undefined;
  const called = printable(fullName(diagnosis, name));
  const change = async (body: object, done: string): Promise<number> => {
    const answer = await client.ask('PATCH', path, { body, type: MERGE_PATCH });
    if (!isGranted(answer, terminal)) return EXIT.notDone;
    terminal.out(`${called} ${done}\n`);
    return EXIT.clear;
  };
  const phase = textAt(found.value, 'status', 'phase') ?? '';
  return { name: printable(name), called, value: found.value, phase, change };
}
