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
 * 5. There are findings, no action is done, and spec.recovery is Never: Found.
 * 6. A step or an action was refused: Refused.
 * 7. An action is done: Repaired.
 * 8. There are findings: Found.
 * 9. A fault could not be judged: Error.
 * 10. Steps checked for faults, found none, and no other step failed: NothingFound.
 * 11. A path succeeded: Completed.
 * 12. Error.
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
  return resultOfSteps(spec, status) ?? (phase === 'Succeeded' ? 'Completed' : 'Error');
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
  const isRequired =
    textAt(spec, 'recovery') === 'Approval' ||
    textAt(status, 'planRequiredBy') === 'RecoveryPolicy';
  if (plan === undefined || !isRequired) return false;
  return fieldAt(spec, 'dryRun') !== true && plan !== textAt(spec, 'approvedPlan');
}

/** What a completed graph says about the node; undefined if it says nothing. */
function resultOfSteps(spec: unknown, status: unknown): DiagnosisResult | undefined {
  const actions = (listAt(status, 'actions') ?? []).map((each) => textAt(each, 'state'));
  const failed = (listAt(status, 'steps') ?? []).filter(
    (each) => textAt(each, 'outcome') === 'Failed',
  );
  const reasons = failed.map((each) => textAt(each, 'reason'));
  if (actions.includes('failed') || actions.includes('no-effect')) return 'Error';
  const hasFindings = (listAt(status, 'findings') ?? []).length > 0;
  if (hasFindings && !actions.includes('done') && textAt(spec, 'recovery') === 'Never')
    return 'Found';
  if (actions.includes('refused') || reasons.includes('Refused')) return 'Refused';
  if (actions.includes('done')) return 'Repaired';
  if (hasFindings) return 'Found';
  if (reasons.includes('Unknown')) return 'Error';
  const isWhole = fieldAt(status, 'stepsNotListed') === undefined;
  const isClear = reasons.length > 0 && reasons.every((reason) => reason === 'NothingFound');
  return isWhole && isClear ? 'NothingFound' : undefined;
}
