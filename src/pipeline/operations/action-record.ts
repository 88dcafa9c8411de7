import { cutSentence } from '../../lib/std/cut-sentence.ts';
import type { Action } from '../../node/model/action.ts';
import type { JournalRecord } from '../../node/repair/journal.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { recordedText } from './action-text.ts';
import { DESCRIPTION_CHARACTERS_MAX } from './limits.ts';

export type ActionRecord = NonNullable<DiagnosisStatus['actions']>[number];

/** What an action is for: the ids of a fault and of its finding. */
interface Purpose {
  readonly fault: string;
  readonly finding: string;
}

/** An action as the status of a Diagnosis lists it: what is done, to what, and for which finding. */
export function actionRecord(action: Action, { fault, finding }: Purpose): ActionRecord {
  const { kind } = action;
  const args = recordedText(action);
  if (!args) return { kind, fault, finding };
  const [description = '', ...details] = [args.description, ...args.details].map((each) =>
    cutSentence(each, DESCRIPTION_CHARACTERS_MAX),
  );
  return { kind, fault, finding, description, details };
}

/** The same of one that was done, with its place in the journal. */
export function attemptedActionRecord(record: JournalRecord): ActionRecord {
  const { action, entry, at } = record;
  const known = actionRecord(action, record);
  return { ...known, state: 'done', endTime: at, journalEntry: entry };
}
