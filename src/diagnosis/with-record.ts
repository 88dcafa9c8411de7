import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { StepRecord } from '../operations/operation-result.ts';

/**
 * The status with what one more step found or did. A step that is run again, for another path or
 * after an approval, tells what the journal knows of it: each deed is listed once.
 */
export function withRecord(status: DiagnosisStatus, record: StepRecord = {}): DiagnosisStatus {
  const { findings = [], plannedActions = [], actions = [] } = record;
  const listed = new Set((status.actions ?? []).map(({ journalEntry }) => journalEntry));
  const news = actions.filter(
    ({ journalEntry: entry }) => entry === undefined || !listed.has(entry),
  );
  return {
    ...status,
    ...joined('findings', status.findings, findings),
    ...joined('plannedActions', status.plannedActions, plannedActions),
    ...joined('actions', status.actions, news),
  };
}

function joined<T>(name: string, before: readonly T[] | undefined, more: readonly T[]): object {
  return more.length === 0 ? {} : { [name]: [...(before ?? []), ...more] };
}
