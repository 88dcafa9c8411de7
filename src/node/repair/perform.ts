import type { NodeLock } from '../../lib/state/node-lock.ts';
import { tried } from '../../lib/state/state-folder.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { isStaticPodUid } from '../evidence/pods/orphan-pods.ts';
import type { Action, ActionKind, Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import { ReadError } from '../model/node-reader.ts';
import { type ActionFailure, type Handler, type Progress, refused } from './handler.ts';
import { handlers } from './handlers.ts';
import { type Intent, isOfGonePod, type Journal } from './journal.ts';
import type { NodeWriter } from './node-writer.ts';

/** All that is needed to change a node. */
export interface RepairContext {
  /** Takes a new snapshot of the node, in which nothing is known yet. */
  readonly snapshot: () => Snapshot;
  readonly writer: NodeWriter;
  readonly journal: Journal;
  readonly lock: NodeLock;
  readonly permitted: ReadonlySet<ActionKind>;
  /** Absent: no limit. */
  readonly actionsPerHour?: number | undefined;
  /** Called after each step, so that a host can show how far it is. */
  readonly onStep?: (step: Step) => void;
  /** Called after each part of an action that has many. */
  readonly onProgress?: (progress: Progress) => void;
  /** Checked until the intent is written; after that the action runs to its end. */
  readonly stop?: AbortSignal;
}

export interface Step {
  readonly name: 'checked again' | 'intent written' | 'acted' | 'checked afterwards';
  readonly tookMs: number;
}

export interface Performed {
  readonly outcome: Outcome;
  /** Its number in the journal, when it came so far. */
  readonly entry?: number;
}

/** The only function that changes a node. */
export async function perform(intent: Intent, repair: RepairContext): Promise<Performed> {
  const forbidden = notPermitted(intent.action, repair.permitted);
  if (forbidden) return { outcome: forbidden };
  if (repair.lock.isActing) {
    const what = 'another action is being performed';
    return { outcome: refused(what, 'one at a time on a node', 'wait for it') };
  }
  repair.lock.isActing = true;
  try {
    return await performAlone(intent, repair);
  } finally {
    repair.writer.release();
    repair.lock.isActing = false;
  }
}

export function notPermitted(
  { kind }: Action,
  permitted: ReadonlySet<ActionKind>,
): Outcome | undefined {
  if (permitted.has(kind)) return undefined;
  return refused(
    `the action ${kind} is not permitted here`,
    'the policy of this host does not allow it',
    'ask the administrator of the policy',
  );
}

/** Counted from the journal, so that a restart does not begin a new hour. */
async function overLimit(repair: RepairContext): Promise<Outcome | undefined> {
  const { actionsPerHour: most, journal } = repair;
  if (most === undefined) return undefined;
  const counted = await tried(journal.actionsInLastHour());
  if (!counted.ok) {
    const todo = `nothing was changed by this action; ${counted.todo}, then recover again`;
    return refused('the journal cannot be read', counted.why, todo);
  }
  if (counted.value < most) return undefined;
  return refused(
    'the limit of actions per hour is reached',
    `the policy of this host permits ${most}, and the journal has ${counted.value} of the last hour`,
    'find out with kubediag journal why so much is repaired here; then wait, repair it yourself on the ' +
      'node with kubediag recover, or raise actionsPerHour in the policy',
  );
}

/** What becomes of an action if the node is left alone; undefined when nothing stands against it. */
export async function objectionTo(
  action: Action,
  snapshot: Snapshot,
  writer: NodeWriter,
  { isDryRun = false } = {},
): Promise<Outcome | undefined> {
  const handler: Handler<ActionKind> = handlers[action.kind];
  try {
    const objection = await handler.refuse(action, snapshot, writer);
    if (objection || !isDryRun) return objection;
    const shortfall = await handler.shortfall?.(action, snapshot);
    return shortfall && { state: 'failed', ...shortfall };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    const todo =
      'nothing was changed by this action; make sure that this can be read, then recover again';
    return refused('the node could not be checked again', error.message, todo);
  }
}

async function performAlone(asked: Intent, repair: RepairContext): Promise<Performed> {
  const intent = withEarlierProof(asked, repair.journal);
  const { action } = intent;
  const handler: Handler<ActionKind> = handlers[action.kind];
  const step = stepReporter(repair);
  const before = repair.snapshot();
  const objection = await objectionTo(action, before, repair.writer);
  if (objection) return { outcome: objection };
  step('checked again');
  if (repair.stop?.aborted) {
    const todo = 'nothing was changed by this action';
    return { outcome: refused('stopped', 'you asked to stop', todo) };
  }

  const excess = await overLimit(repair);
  if (excess) return { outcome: excess };

  // On disk before we act: a crash leaves a trace.
  const intended = await tried(repair.journal.intend(intent));
  if (!intended.ok) {
    const todo = `nothing was changed by this action; ${intended.todo}, then recover again`;
    return { outcome: refused('the journal cannot be written', intended.why, todo) };
  }
  const entry = intended.value;
  step('intent written');

  const { snapshot: freshSnapshot, onProgress, stop } = repair;
  const notes: string[] = [];
  const keep = (name: string, text: string) => tried(repair.journal.keep(name, text));
  const report = (text: string) => void notes.push(text);
  const course = { freshSnapshot, onProgress, stop, keep, note: report };
  const actionFailure = await failureOf(() => handler.act(action, repair.writer, before, course));
  step('acted');
  const seen = await outcomeOf(actionFailure, () =>
    handler.isDone(action, repair.snapshot(), before),
  );
  const outcome = notes.reduce<Outcome>(withNote, seen);
  step('checked afterwards');

  const concluded = await tried(repair.journal.conclude(entry, intent, outcome));
  if (concluded.ok) return { outcome, entry };
  const note = `the journal does not have this yet, the next start will add it: ${concluded.why}`;
  return { outcome: withNote(outcome, note), entry };
}

/**
 * A forced unmount frees the kubelet, and with that ends the wait that showed the pod to be gone. A pod
 * that was gone does not come back, unless it is a static one, so what the first action saw holds
 * for the next ones, and for what is left of the pod afterwards.
 */
export function withEarlierProof(intent: Intent, journal: Pick<Journal, 'hasSeenGone'>): Intent {
  const { action } = intent;
  const podUid = 'podUid' in action ? action.podUid : undefined;
  if (podUid === undefined || isStaticPodUid(podUid) || !isOfGonePod(intent, podUid)) return intent;
  if (!journal.hasSeenGone(podUid, intent.finding)) return intent;
  return { ...intent, action: { ...action, seenGone: podUid } };
}

async function failureOf(
  act: () => Promise<ActionFailure | undefined>,
): Promise<ActionFailure | undefined> {
  try {
    return await act();
  } catch (error) {
    const todo = 'run kubediag check again, and report this';
    // It broke in the middle, so what it began may still be under way.
    return { what: 'the action was interrupted', why: messageOf(error), todo, isUnending: true };
  }
}

/** The check afterwards decides; the result of the write only explains a failure. */
async function outcomeOf(
  actionFailure: ActionFailure | undefined,
  looked: () => ReturnType<Handler<ActionKind>['isDone']>,
): Promise<Outcome> {
  if (actionFailure?.stays) {
    const { stays, isUnending: _, ...failure } = actionFailure;
    return { state: stays, ...failure };
  }
  const { isUnending, ...failure } = actionFailure ?? {};
  const todo = 'run kubediag check again';
  try {
    const { isDone, seen, beside } = await looked();
    const unseen = { what: seen, why: 'the action reported success', todo };
    if (actionFailure && (isUnending || !isDone)) return { state: 'failed', ...unseen, ...failure };
    if (!isDone) return { state: 'no-effect', ...unseen };
    const said = actionFailure && `the action itself reported: ${actionFailure.why}`;
    return [beside, said].reduce<Outcome>(withNote, { state: 'done' });
  } catch (error) {
    const what = 'it was done, but could not be verified afterwards';
    return { state: 'failed', what, why: messageOf(error), todo, ...failure };
  }
}

function withNote(outcome: Outcome, note: string | undefined): Outcome {
  if (note === undefined) return outcome;
  if (outcome.state !== 'done') return { ...outcome, why: `${outcome.why}; ${note}` };
  return { state: 'done', note: outcome.note ? `${outcome.note}; ${note}` : note };
}

function stepReporter({ onStep }: RepairContext): (name: Step['name']) => void {
  let begun = performance.now();
  return (name) => {
    const now = performance.now();
    onStep?.({ name, tookMs: now - begun });
    begun = now;
  };
}
