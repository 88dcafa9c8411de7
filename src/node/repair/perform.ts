import type { NodeLock } from '../../lib/state/node-lock.ts';
import { tried } from '../../lib/state/state-folder.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { isStaticPodUid } from '../evidence/pods/orphan-pods.ts';
import type { Action, ActionKind, Outcome } from '../model/action.ts';
import type { Look } from '../model/evidence.ts';
import { ReadError } from '../model/node-reader.ts';
import type { Handler, Mishap, Progress } from './handler.ts';
import { handlers } from './handlers.ts';
import { type Intent, isOfGonePod, type Journal } from './journal.ts';
import type { NodeWriter } from './node-writer.ts';

/** All that is needed to change a node. */
export interface Hands {
  /** Begins a new look at the node, in which nothing is known yet. */
  readonly look: () => Look;
  readonly writer: NodeWriter;
  readonly journal: Journal;
  readonly lock: NodeLock;
  readonly permitted: ReadonlySet<ActionKind>;
  /** Called after each step, so that a host can show how far it is. */
  readonly onStep?: (step: Step) => void;
  /** Called after each part of a deed that has many. */
  readonly onProgress?: (progress: Progress) => void;
  /** Heeded until the intent is written; after that one deed is carried through to its end. */
  readonly stop?: AbortSignal;
}

export interface Step {
  readonly name: 'looked again' | 'intent written' | 'acted' | 'looked afterwards';
  readonly tookMs: number;
}

export interface Performed {
  readonly outcome: Outcome;
  /** Its number in the journal, when it came so far. */
  readonly entry?: number;
}

/** The one door through which a node is changed. */
export async function perform(intent: Intent, hands: Hands): Promise<Performed> {
  const forbidden = notPermitted(intent.action, hands.permitted);
  if (forbidden) return { outcome: forbidden };
  if (hands.lock.isActing) {
    const what = 'another action is being performed';
    return { outcome: refused(what, 'one at a time on a node', 'wait for it') };
  }
  hands.lock.isActing = true;
  try {
    return await performAlone(intent, hands);
  } finally {
    hands.writer.release();
    hands.lock.isActing = false;
  }
}

export function notPermitted(
  { kind }: Action,
  permitted: ReadonlySet<ActionKind>,
): Outcome | undefined {
  if (permitted.has(kind)) return undefined;
  const what = `the action ${kind} is not permitted here`;
  return refused(what, 'the policy of this host does not name it', 'ask whoever set the policy');
}

/** What becomes of an action if the node is left alone; undefined when nothing stands against it. */
export async function objectionTo(
  action: Action,
  look: Look,
  writer: NodeWriter,
  { isDryRun = false } = {},
): Promise<Outcome | undefined> {
  const handler: Handler<ActionKind> = handlers[action.kind];
  try {
    const objection = await handler.refuse(action, look, writer);
    if (objection || !isDryRun) return objection;
    const shortfall = await handler.shortfall?.(action, look);
    return shortfall && { state: 'failed', ...shortfall };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    const todo =
      'nothing was changed by this action; see to it that this can be read, then recover again';
    return refused('the node could not be looked at again', error.message, todo);
  }
}

async function performAlone(asked: Intent, hands: Hands): Promise<Performed> {
  const intent = withEarlierProof(asked, hands.journal);
  const { action } = intent;
  const handler: Handler<ActionKind> = handlers[action.kind];
  const step = stepTeller(hands);
  const before = hands.look();
  const objection = await objectionTo(action, before, hands.writer);
  if (objection) return { outcome: objection };
  step('looked again');
  if (hands.stop?.aborted) {
    const todo = 'nothing was changed by this action';
    return { outcome: refused('stopped', 'you asked to stop', todo) };
  }

  // On disk before we act: a crash leaves a trace.
  const intended = await tried(hands.journal.intend(intent));
  if (!intended.ok) {
    const todo = `nothing was changed by this action; ${intended.todo}, then recover again`;
    return { outcome: refused('the journal cannot be written', intended.why, todo) };
  }
  const entry = intended.value;
  step('intent written');

  const { look: freshLook, onProgress, stop } = hands;
  const notes: string[] = [];
  const keep = (name: string, text: string) => tried(hands.journal.keep(name, text));
  const tell = (text: string) => void notes.push(text);
  const course = { freshLook, onProgress, stop, keep, note: tell };
  const mishap = await mishapOf(() => handler.act(action, hands.writer, before, course));
  step('acted');
  const seen = await outcomeOf(mishap, () => handler.isDone(action, hands.look(), before));
  const outcome = notes.reduce<Outcome>(withNote, seen);
  step('looked afterwards');

  const concluded = await tried(hands.journal.conclude(entry, intent, outcome));
  if (concluded.ok) return { outcome, entry };
  const note = `the journal does not tell this yet, the next start will: ${concluded.why}`;
  return { outcome: withNote(outcome, note), entry };
}

/**
 * The first action of a plan frees the kubelet, and with that ends the wait that showed the pod to be
 * gone. A pod that was gone does not come back, unless it is a static one, so what the first action
 * saw holds for the others.
 */
export function withEarlierProof(intent: Intent, journal: Pick<Journal, 'hasSeenGone'>): Intent {
  const { action } = intent;
  const podUid = 'podUid' in action ? action.podUid : undefined;
  if (podUid === undefined || isStaticPodUid(podUid) || !isOfGonePod(intent, podUid)) return intent;
  if (!journal.hasSeenGone(podUid, intent.finding)) return intent;
  return { ...intent, action: { ...action, seenGone: podUid } };
}

async function mishapOf(act: () => Promise<Mishap | undefined>): Promise<Mishap | undefined> {
  try {
    return await act();
  } catch (error) {
    const todo = 'run kubediag check again, and report this';
    // It broke in the middle, so what it began may still be under way.
    return { what: 'the act broke off', why: messageOf(error), todo, isUnending: true };
  }
}

/** The eyes decide: what the deed said of itself counts only where they see no success. */
async function outcomeOf(
  mishap: Mishap | undefined,
  looked: () => ReturnType<Handler<ActionKind>['isDone']>,
): Promise<Outcome> {
  if (mishap?.stays) {
    const { stays, isUnending: _, ...trouble } = mishap;
    return { state: stays, ...trouble };
  }
  const { isUnending, ...trouble } = mishap ?? {};
  const todo = 'run kubediag check again';
  try {
    const { isDone, seen, beside } = await looked();
    const unseen = { what: seen, why: 'the act said that it worked', todo };
    if (mishap && (isUnending || !isDone)) return { state: 'failed', ...unseen, ...trouble };
    if (!isDone) return { state: 'no-effect', ...unseen };
    const said = mishap && `the act itself said: ${mishap.why}`;
    return [beside, said].reduce<Outcome>(withNote, { state: 'done' });
  } catch (error) {
    const what = 'it was done, but could not be looked at afterwards';
    return { state: 'failed', what, why: messageOf(error), todo, ...trouble };
  }
}

function withNote(outcome: Outcome, note: string | undefined): Outcome {
  if (note === undefined) return outcome;
  if (outcome.state !== 'done') return { ...outcome, why: `${outcome.why}; ${note}` };
  return { state: 'done', note: outcome.note ? `${outcome.note}; ${note}` : note };
}

function refused(what: string, why: string, todo: string): Outcome {
  return { state: 'refused', what, why, todo };
}

function stepTeller({ onStep }: Hands): (name: Step['name']) => void {
  let begun = performance.now();
  return (name) => {
    const now = performance.now();
    onStep?.({ name, tookMs: now - begun });
    begun = now;
  };
}
