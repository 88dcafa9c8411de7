import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { StepReason } from '../api/results.ts';

/** What all steps so far found and were given: one flat map of texts. */
export type StepInput = Readonly<Record<string, string>>;

/** What a step of ours found or did, for the status beside its results. */
export type StepRecord = Pick<DiagnosisStatus, 'findings' | 'plannedActions' | 'actions'>;

/** What came of an Operation. One that failed may have found something all the same. */
export type OperationResult =
  | {
      readonly succeeded: true;
      readonly results: Readonly<Record<string, string>>;
      readonly record?: StepRecord;
    }
  | {
      readonly succeeded: false;
      readonly message: string;
      /** Where it is no error. */
      readonly reason?: StepReason;
      readonly results?: Readonly<Record<string, string>>;
      readonly record?: StepRecord;
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
  return {
    succeeded: false,
    message,
    ...(reason ? { reason } : {}),
    ...(record ? { record } : {}),
  };
}

export function refusedWith(message: string, record?: StepRecord): OperationResult {
  return failedWith(`refused: ${message}`, record, 'Refused');
}
