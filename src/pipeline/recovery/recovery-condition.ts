import type { Condition } from '../api/fields.ts';
import { messageFor, type RecoveryDecision } from './decide-recovery.ts';

/** The condition of a RecoveryPolicy that says whether recoveries may begin now. */
const RECOVERY_PERMITTED = 'RecoveryPermitted';

/** Without the time of its last transition, which is known to the one who writes it. */
export function recoveryCondition(
  decision: RecoveryDecision,
): Omit<Condition, 'lastTransitionTime'> {
  const type = RECOVERY_PERMITTED;
  if (!decision.permitted) {
    const { reason } = decision;
    return { type, status: 'False', reason, message: messageFor(decision) };
  }
  const { slots } = decision;
  const nodes = slots === 1 ? '1 node' : `${slots} nodes`;
  const message = `Recoveries may begin; at most ${nodes} at once`;
  return { type, status: 'True', reason: 'RecoveryPermitted', message };
}
