import { fieldAt, listAt, textAt } from '../../lib/std/json.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { DiagnosisResult } from '../api/results.ts';

/**
 * The result of a Diagnosis; undefined while it runs. It follows from the rest of the object, which
 * another program may have written, so its form is not trusted.
 *
 * The first matching rule counts:
 *
 * 1. It has not ended: WaitingForApproval while its plan waits, else nothing.
 * 2. It was cancelled: Cancelled.
 * 3. It ended before its graph did (deadline, missing object, no space): Error.
 * 4. An action failed or had no effect: Error.
 * 5. A step or an action was refused: Refused.
 * 6. An action is done: Repaired.
 * 7. There are findings: Found.
 * 8. A fault could not be judged: Error.
 * 9. Steps checked for faults, found none, and no other step failed: NothingFound.
 * 10. A path succeeded: Completed.
 * 11. Error.
 */
export function resultOf(spec: unknown, status: unknown): DiagnosisResult | undefined {
  const phase = textAt(status, 'phase');
  if (phase !== 'Succeeded' && phase !== 'Failed') {
    return isPlanWaiting(spec, status) ? 'WaitingForApproval' : undefined;
  }
  const reasons = (listAt(status, 'conditions') ?? [])
    .filter((each) => textAt(each, 'status') === 'True')
    .map((each) => textAt(each, 'reason'));
  if (phase === 'Failed') {
    if (reasons.includes('DiagnosisCancelled')) return 'Cancelled';
    if (!reasons.includes('AllPathsFailed')) return 'Error';
  }
  return resultOfSteps(status) ?? (phase === 'Succeeded' ? 'Completed' : 'Error');
}

/** The status with its result. */
export function withResult(spec: unknown, status: DiagnosisStatus): DiagnosisStatus {
  const { result: before, ...rest } = status;
  const result = resultOf(spec, status);
  if (result === before) return status;
  return result === undefined ? rest : { ...rest, result };
}

/** Whether the plan waits until spec.approvedPlan names it. */
export function isPlanWaiting(spec: unknown, status: unknown): boolean {
  const plan = textAt(status, 'plan');
  if (plan === undefined || textAt(spec, 'recovery') !== 'Approval') return false;
  return fieldAt(spec, 'dryRun') !== true && plan !== textAt(spec, 'approvedPlan');
}

/** What a completed graph says about the node; undefined if it says nothing. */
function resultOfSteps(status: unknown): DiagnosisResult | undefined {
  const actions = (listAt(status, 'actions') ?? []).map((each) => textAt(each, 'state'));
  const failed = (listAt(status, 'steps') ?? []).filter(
    (each) => textAt(each, 'outcome') === 'Failed',
  );
  const reasons = failed.map((each) => textAt(each, 'reason'));
  if (actions.includes('failed') || actions.includes('no-effect')) return 'Error';
  if (actions.includes('refused') || reasons.includes('Refused')) return 'Refused';
  if (actions.includes('done')) return 'Repaired';
  if ((listAt(status, 'findings') ?? []).length > 0) return 'Found';
  if (reasons.includes('Unknown')) return 'Error';
  const isWhole = fieldAt(status, 'stepsNotListed') === undefined;
  const isClear = reasons.length > 0 && reasons.every((reason) => reason === 'NothingFound');
  return isWhole && isClear ? 'NothingFound' : undefined;
}
