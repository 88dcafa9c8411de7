import type { DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { CONDITION_REASONS } from '../../../pipeline/api/reasons.ts';
import type { StepDelay } from '../../../pipeline/steps/step-to-run.ts';
import { POLICY_WAIT_MAX_MS, POLICY_WAIT_MS } from './limits.ts';

const { type: WAITING } = CONDITION_REASONS.RecoveryPaused;

/**
 * When the RecoveryPolicy is asked again: after a quarter of the time for which the Diagnosis has waited,
 * because thousands may wait and each takes several requests. Not later than what the policy says.
 */
export function withPolicyWait(
  delay: StepDelay,
  { conditions = [] }: Pick<DiagnosisStatus, 'conditions'>,
  now: Date,
): StepDelay {
  const waiting = conditions.find(({ type, status }) => type === WAITING && status === 'True');
  const sinceMs = Date.parse(waiting?.lastTransitionTime ?? '');
  const waitedMs = Number.isNaN(sinceMs) ? 0 : now.getTime() - sinceMs;
  const grownMs = Math.min(Math.max(waitedMs / 4, POLICY_WAIT_MS), POLICY_WAIT_MAX_MS);
  return { ...delay, againMs: Math.min(delay.againMs, grownMs) };
}
