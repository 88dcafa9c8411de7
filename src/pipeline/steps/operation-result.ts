import { defined } from '../../lib/std/defined.ts';
import { jsonValue } from '../../lib/std/json.ts';
import { attempt } from '../../node/model/evidence.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { StepReason, StepResult } from '../api/results.ts';

/** What all steps so far found and were given: one flat map of texts. */
export type StepInput = Readonly<Record<string, string>>;

/** A file that a step stored on the node. */
export type StepFile = Omit<NonNullable<DiagnosisStatus['files']>[number], 'accessKey' | 'message'>;

/** What a step of ours found, did or stored, for the status beside its results. */
export type StepRecord = Pick<DiagnosisStatus, 'findings' | 'plannedActions' | 'actions'> & {
  readonly files?: readonly StepFile[];
};

/** A result that is too large for a status, in a file of the node. */
export type LargeResult = Omit<
  Required<NonNullable<DiagnosisStatus['largeResults']>[number]>,
  'accessKey'
>;

export type OperationResult = StepResult & {
  readonly record?: StepRecord;
  /** Results beside `results` whose files are stored already. */
  readonly largeResults?: readonly LargeResult[];
};

/** A required input that is missing. */
export function needed(key: string, fix: string): string {
  return `this step needs ${key}, and nobody gave it: ${fix}`;
}

export function failedWith(
  message: string,
  record?: StepRecord,
  reason?: StepReason,
): OperationResult {
  return defined({ succeeded: false, message, reason, record });
}

export function refusedWith(message: string, record?: StepRecord): OperationResult {
  return failedWith(`refused: ${message}`, record, 'Refused');
}

/** The result of a step that reads one text from the node. */
export async function collected(key: string, read: Promise<string>): Promise<OperationResult> {
  const answered = await attempt(read);
  if (!answered.known) return failedWith(answered.why);
  return { succeeded: true, results: { [key]: answered.value } };
}

/** The results in what somebody answered, or why they are none. `null` is none at all, and right. */
export function resultsIn(text: string): Readonly<Record<string, string>> | string {
  const value = jsonValue(text)?.value;
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return 'its answer is no JSON object';
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string');
  if (wrong) return `in its answer "${wrong[0]}" is no text, and all values must be`;
  return value as Record<string, string>;
}
