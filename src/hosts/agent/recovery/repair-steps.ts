import type { Processor } from '../../../pipeline/api/processor-of.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { Executor } from '../../../pipeline/channel/executor.ts';
import { whyRefused } from '../../../pipeline/recovery/decide-recovery.ts';
import { failureTime } from '../../../pipeline/recovery/failures.ts';
import { modeFor } from '../../../pipeline/recovery/mode-for.ts';
import { failedWith, refusedWith } from '../../../pipeline/steps/operation-result.ts';
import { mayAct } from '../../../pipeline/steps/plan.ts';
import { isOwnPath } from '../../../pipeline/steps/run-server.ts';
import {
  type RunStep,
  type RunStepWhenDue,
  type StepOutcome,
  type StepToRun,
  stopWithin,
} from '../../../pipeline/steps/step-to-run.ts';
import type { Permission, RecoverySlots } from './recovery-slots.ts';

export interface RepairStepsOptions {
  readonly slots: Pick<RecoverySlots, 'begin'>;
  readonly repairs: Executor['repairs'];
  readonly earlierActionsFor: Executor['earlierActionsFor'];
  readonly now?: () => Date;
}

/**
 * Runs the steps that repair this node as far as the RecoveryPolicy permits it, and only while the node holds a
 * slot. Other steps run as they are.
 */
export function repairSteps(run: RunStep, options: RepairStepsOptions): RunStepWhenDue {
  return async (step) => {
    const fault = await faultOf(step, options.repairs);
    if (fault === undefined) return run(step);
    if (typeof fault !== 'string') return failedWith(fault.why);
    const { spec, status } = step.diagnosis;
    if (spec.dryRun || spec.recovery === 'Never') return run(step);
    const permission = await options.slots.begin({
      createdAt: step.diagnosis.createdAt,
      stop: step.stop,
      needsSlot: (seen) =>
        mayAct({ ...spec, recovery: modeFor(seen.spec, fault, spec.recovery) }, status),
      hasBegun: async () => {
        const earlier = await options.earlierActionsFor(step.purpose);
        return earlier.isKnown && (earlier.record.actions ?? []).length > 0;
      },
    });
    if ('notNow' in permission) {
      const why = whyRefused(permission.notNow);
      return why === undefined ? permission : refusedWith(why);
    }
    const { policy, turn } = permission;
    const recovery = modeFor(policy.spec, fault, spec.recovery);
    if (recovery === 'Never') {
      const todo = 'see its spec.faults, or run "kubediag recover" in the executor of the node';
      return refusedWith(`RecoveryPolicy default permits no repair of ${fault}: ${todo}`);
    }
    const effective = withRecovery(step, recovery);
    const outcome = turn
      ? await repaired(run, effective, { policy, turn }, options)
      : await run(effective);
    const isFromPolicy = spec.recovery !== 'Approval' && 'planned' in outcome;
    return isFromPolicy ? { ...outcome, requiredBy: 'RecoveryPolicy' } : outcome;
  };
}

async function repaired(
  run: RunStep,
  step: StepToRun,
  { policy, turn }: Required<Permission>,
  { now = () => new Date() }: RepairStepsOptions,
): Promise<StepOutcome> {
  let outcome: StepOutcome | undefined;
  let isAnswered = true;
  const onUnanswered = () => {
    isAnswered = false;
  };
  try {
    await step.onBegun?.({ reason: 'RecoveryBegun', name: turn.lease });
    const stop = AbortSignal.any([step.stop, turn.lost]);
    outcome = await run({ ...step, stop, onUnanswered });
    return outcome;
  } finally {
    const hasSucceeded = outcome !== undefined && ('planned' in outcome || outcome.succeeded);
    // A step without an answer may have failed.
    const hasFailed = hasFailedAction(outcome) || (!isAnswered && !step.stop.aborted);
    const time = failureTime(now(), policy.spec);
    const failure = hasFailed ? failureOf(step, time) : undefined;
    await turn.end({ failure, isAnswered, hasSucceeded });
  }
}

/** The fault that a step repairs; undefined if it repairs none, or why nobody knows. */
async function faultOf(
  { processor, restMs, stop }: StepToRun,
  repairs: Executor['repairs'],
): Promise<string | { readonly why: string } | undefined> {
  if (processor.way !== 'http' || !isOwnPath(processor)) return undefined;
  const ending = stopWithin(patienceMs(processor, restMs), stop);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const onEnd = () => resolve(undefined);
  ending.addEventListener('abort', onEnd);
  if (ending.aborted) onEnd();
  const known = await Promise.race([repairs(), promise]);
  ending.removeEventListener('abort', onEnd);
  if (!known) return { why: 'the executor of this node has not connected: look at its log' };
  return known.get(pathOf(processor));
}

function patienceMs({ timeoutSeconds }: Processor, restMs: number): number {
  return Math.min(timeoutSeconds * 1_000, restMs);
}

// /processor/subpathRemountRecover?x=1
function pathOf({ path }: Processor & { readonly way: 'http' }): string {
  return path.split('?')[0] ?? path;
}

function withRecovery(step: StepToRun, recovery: 'Automatic' | 'Approval'): StepToRun {
  const { diagnosis } = step;
  return { ...step, diagnosis: { ...diagnosis, spec: { ...diagnosis.spec, recovery } } };
}

/** An action that did not come about, and was not refused before it began. */
function hasFailedAction(outcome: StepOutcome | undefined): boolean {
  const { actions = [] } = outcome?.record ?? {};
  return actions.some(({ state }) => state === 'failed' || state === 'no-effect');
}

function failureOf({ diagnosis }: StepToRun, time: string): FailedRecovery {
  const { namespace, name, uid, nodeName } = diagnosis;
  return { nodeName, diagnosis: `${namespace}/${name}`, uid, time };
}
