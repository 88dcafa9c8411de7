import type { Tried } from '../../lib/state/state-folder.ts';
import type { Action, ActionKind, Failure, ManualSteps, Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import type { NodeWriter } from './node-writer.ts';

/** What is to be done where the node is no longer as it was diagnosed. */
export const CHECK_AGAIN = 'run kubediag check again, and act on what it finds then';

/** The outcome of an action that is not begun. */
export function refused(
  what: string,
  why: string,
  todo: string,
  manual?: ManualSteps,
): Outcome & { readonly state: 'refused' } {
  return { state: 'refused', what, why, todo, ...(manual ? { manual } : {}) };
}

/** The same where there is a reason; undefined where there is none. */
export function refusedIf(
  why: string | undefined,
  what: string,
  todo: string,
  manual?: ManualSteps,
): Outcome | undefined {
  return why === undefined ? undefined : refused(what, why, todo, manual);
}

/** What it takes to change a node safely: objections, the action, and a check afterwards. */
export interface Handler<K extends ActionKind> {
  /**
   * Checks again now, in full: the outcome of the action if we leave the node alone, or undefined
   * when nothing stands against it. Already done is no objection, it is `done`.
   */
  refuse(action: Action<K>, snapshot: Snapshot, writer: NodeWriter): Promise<Outcome | undefined>;
  /** What would stay undone although nothing stands against the rest; only a dry run asks. */
  shortfall?(action: Action<K>, snapshot: Snapshot): Promise<Failure | undefined>;
  /** The same snapshot as in `refuse`; what went wrong, as far as the action itself knows. */
  act(
    action: Action<K>,
    writer: NodeWriter,
    snapshot: Snapshot,
    course: ActionContext,
  ): Promise<ActionFailure | undefined>;
  /**
   * After a crash in the middle of an act: finishes what it had begun, with all that `refuse` asks,
   * and nothing that it had not begun. Undefined when there was nothing to finish.
   */
  resume?(
    action: Action<K>,
    writer: NodeWriter,
    freshSnapshot: () => Snapshot,
  ): Promise<Resumed | undefined>;
  /** A separate snapshot; `before` is the one of `refuse`, unknown after a crash. */
  isDone(action: Action<K>, snapshot: Snapshot, before?: Snapshot): Promise<Observation>;
}

/** What an action of many steps needs. */
export interface ActionContext {
  /** Takes a new snapshot: what was seen before the first step may not hold at the last. */
  readonly freshSnapshot: () => Snapshot;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Checked between two steps: what was done stays done, and is reported. */
  readonly stop?: AbortSignal | undefined;
  /** Saves a text beside the journal, readable by root only and never in a bundle; returns its path. */
  readonly keep?: ((name: string, text: string) => Promise<Tried<string>>) | undefined;
  /** A note for the user, whatever the outcome. */
  readonly note?: ((text: string) => void) | undefined;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

export interface ActionFailure extends Failure {
  /** The action may still take effect, so what is seen right after it proves nothing. */
  readonly isUnending?: boolean;
  /** The outcome, whatever is seen afterwards: the pinned thing may be gone, and not through us. */
  readonly stays?: 'refused' | 'failed';
}

export interface Resumed {
  /** What it came to, as a clause. */
  readonly said: string;
  /** It could not be finished now, so the entry stays open, and the next start tries again. */
  readonly isOpen?: boolean;
}

export interface Observation {
  readonly isDone: boolean;
  /** What was seen, as a clause: "the mount is gone". */
  readonly seen: string;
  /** Somebody is still at it, so what is seen now is not the end. */
  readonly underWay?: string;
  /** What else had changed meanwhile. */
  readonly beside?: string;
}
