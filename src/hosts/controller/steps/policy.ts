import { RECOVERY_POLICY_PATH } from '../../../pipeline/api/cluster-names.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { decideRecovery, whyRefused } from '../../../pipeline/recovery/decide-recovery.ts';
import { policyIn } from '../../../pipeline/recovery/seen-policy.ts';
import { type OperationResult, refusedWith } from '../../../pipeline/steps/operation-result.ts';
import type { StepDelay } from '../../../pipeline/steps/step-to-run.ts';
import type { ControllerContext } from '../controller-context.ts';
import { POLICY_WAIT_MS } from './limits.ts';

/**
 * What a change waits for, or why it is refused. It needs no slot: a slot limits the nodes that are under repair at the same
 * time, and this change is one request.
 */
export async function whyNotPermitted(
  { client, now }: ControllerContext,
  createdAt: string | undefined,
): Promise<StepDelay | OperationResult | undefined> {
  const policy = policyIn(await objectAt(client, RECOVERY_POLICY_PATH));
  // This controller writes the failures of the slots to the status of the policy.
  const decision = decideRecovery({ policy, slotFailures: [], createdAt, now: now() });
  if (decision.permitted) return undefined;
  const { reason, name } = decision;
  const refused = whyRefused(decision);
  if (refused !== undefined) return refusedWith(refused);
  return { notNow: { reason, name }, againMs: POLICY_WAIT_MS };
}
