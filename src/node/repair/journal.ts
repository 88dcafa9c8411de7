import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsIn, textIfThere } from '../../lib/state/state-folder.ts';
import { fieldAt } from '../../lib/std/json.ts';
import type { Action, Outcome } from '../model/action.ts';
import { isRecordedAction, isRecordedOutcome } from '../model/recorded-action.ts';
import { JOURNAL_READ_BYTES_MAX } from './limits.ts';

/** An action and what it is for. */
export interface Intent<A extends Action = Action> {
  readonly action: A;
  /** The fault's id, and the finding's. */
  readonly fault: string;
  readonly finding: string;
  /** The step of a Diagnosis that wants it, the same in every attempt; none for a person. */
  readonly purpose?: string | undefined;
  /**
   * What its recovery wants after it. The first action of a plan has it, for the process that takes the
   * plan up again: a node that is half repaired may not show any more what the other half was.
   */
  readonly rest?: readonly Action[] | undefined;
}

/** One line. The intent and the outcome of an action are two lines with the same number. */
export interface JournalRecord extends Intent {
  readonly entry: number;
  readonly at: string;
  readonly event: 'intended' | 'concluded';
  readonly boot: string;
  /** Absent when a line does not say who. */
  readonly by?: { readonly pid: number; readonly user: string };
  /** Of a conclusion. */
  readonly outcome?: Outcome;
}

export interface Journal {
  /** On disk before it resolves, with the number of the entry: a crash in the act leaves a trace. */
  intend(intent: Intent): Promise<number>;
  conclude(entry: number, intent: Intent, outcome: Outcome): Promise<void>;
  /** Whether an earlier action saw this pod to be gone, in this boot. */
  hasSeenGone(podUid: string, finding: string): boolean;
  /** All actions of the last hour on this node, also before a restart or a reboot. */
  actionsInLastHour(): Promise<number>;
  /** On disk before it resolves, with its path: what is about to be gone, as it was. */
  keep(name: string, text: string): Promise<string>;
}

export interface JournalReading {
  /** Oldest first. */
  readonly records: readonly JournalRecord[];
  /** Intents whose outcome nobody wrote. */
  readonly unfinished: readonly JournalRecord[];
  /** Lines that are not records, in words. */
  readonly errors: readonly string[];
}

/** The files of a journal: a crash in the middle of a turn leaves the next one beside the older. */
export const NEWEST = 'journal.jsonl';
export const OLDER = 'journal.1.jsonl';
export const NEXT = 'journal.next.jsonl';

/** The actions on this node. A torn or foreign line is reported, and hides none of the others. */
export function readJournal(folder: string): JournalReading {
  const records = new Map<string, JournalRecord>();
  const errors: string[] = [];
  // Without the newest file, a crash came between its two names: the next one is the newest.
  for (const name of [OLDER, existsSync(join(folder, NEWEST)) ? NEWEST : NEXT]) {
    const text = textIfThere(join(folder, name), JOURNAL_READ_BYTES_MAX) ?? '';
    for (const [at, line] of text.split('\n').entries()) {
      if (line === '') continue;
      const fields = fieldsIn(line);
      // An intent that was carried over into a new file is in both.
      if (isRecord(fields)) records.set(`${fields.entry} ${fields.event}`, fields);
      else errors.push(`${name}:${at + 1} is not a record: ${line.slice(0, 60)}`);
    }
  }
  const all = [...records.values()].toSorted((left, right) => left.entry - right.entry);
  const isOpen = ({ entry, event }: JournalRecord) =>
    event === 'intended' && !records.has(`${entry} concluded`);
  return { records: all, unfinished: all.filter(isOpen), errors };
}

type Fields = ReturnType<typeof fieldsIn>;

function isRecord(fields: Fields): fields is Fields & JournalRecord {
  const { entry, at, event, action, fault, finding, rest, outcome } = fields;
  return (
    Number.isSafeInteger(entry) &&
    (event === 'intended' || event === 'concluded') &&
    [at, fault, finding].every((field) => typeof field === 'string') &&
    isRecordedAction(action) &&
    (rest === undefined || (Array.isArray(rest) && rest.every(isRecordedAction))) &&
    (outcome === undefined || isRecordedOutcome(outcome))
  );
}

/** Their handlers begin only once the pod was seen to be gone, by everyone who could know it. */
const OF_GONE_PODS: ReadonlySet<string> = new Set(['force-unmount', 'set-aside']);

export function isOfGonePod({ action }: Intent, podUid: string): boolean {
  return OF_GONE_PODS.has(action.kind) && fieldAt(action, 'podUid') === podUid;
}

/**
 * Whether the action of this record began because its pod was gone. For another finding of the same
 * pod that counts only if all sources said so then: the word of a person holds for one finding.
 */
function sawGone(record: Intent, podUid: string, finding: string): boolean {
  if (!isOfGonePod(record, podUid)) return false;
  const { confirmed, seenGone } = record.action;
  return record.finding === finding || (confirmed === undefined && seenGone === undefined);
}

/** Whether an action of this boot saw this pod to be gone, as it counts for this finding. */
export function hasSeenGone(
  folder: string,
  { podUid, finding, boot }: { podUid: string; finding: string; boot: string },
): boolean {
  return readJournal(folder).records.some(
    (record) => record.boot === boot && sawGone(record, podUid, finding),
  );
}
