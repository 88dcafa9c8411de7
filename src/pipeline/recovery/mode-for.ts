import { type RecoveryMode, strictestMode } from '../api/recovery-mode.ts';
import type { RecoveryPolicySpec } from '../api/recovery-policy.ts';

/** Whether a Diagnosis with this spec.recovery may repair a fault by itself. */
export function modeFor(
  { faults = [] }: Pick<RecoveryPolicySpec, 'faults'>,
  fault: string,
  recovery: RecoveryMode | undefined,
): RecoveryMode {
  const named = faults.filter(({ name }) => name === fault);
  return strictestMode(recovery, ...named.map((each) => each.recovery));
}
