import type { Processor } from '../../../pipeline/api/processor-of.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { Executor } from '../../../pipeline/channel/executor.ts';
import { whyRefused } from '../../../pipeline/recovery/decide-recovery.ts';
import { failureTime } from '../../../pipeline/recovery/failures.ts';
import { modeFor } from '../../../pipeline/recovery/mode-for.ts';
import { refusedWith } from '../../../pipeline/steps/operation-result.ts';
import { mayAct } from '../../../pipeline/steps/plan.ts';
import { isOwnPath } from '../../../pipeline/steps/run-server.ts';
import type {
  RunStep,
  RunStepWhenDue,
  StepDelay,
  StepOutcome,
  StepToRun,
} from '../../../pipeline/steps/step-to-run.ts';
import { EXECUTOR_AGAIN_MS } from './limits.ts';
import type { Permission, RecoverySlots } from './recovery-slots.ts';

export interface RepairStepsOptions {
  readonly slots: Pick<RecoverySlots, 'begin'>;
  /** The faults that steps repair, by the path of their processor. Undefined while no executor has connected. */
  readonly repairs: () => Promise<Awaited<ReturnType<Executor['repairs']>> | undefined>;
  readonly earlierActionsFor: Executor['earlierActionsFor'];
  /** This agent stops: its next one goes on with the steps. */
  readonly shutdown: AbortSignal;
  readonly now?: () => Date;
}

/** An earlier attempt of the step may have acted, so it does not fail without a record of that. */
const EXECUTOR_MISSING: StepDelay = {
  notNow: { reason: 'ExecutorMissing', name: '' },
  againMs: EXECUTOR_AGAIN_MS,
};

/**
 * Runs the steps that repair this node as far as the RecoveryPolicy permits it, and only while the node holds a
 * slot. Other steps run as they are.
 */
export function repairSteps(run: RunStep, options: RepairStepsOptions): RunStepWhenDue {
  return async (step) => {
    const { processor } = step;
    if (processor.way !== 'http' || !isOwnPath(processor)) return run(step);
    const repairs = await options.repairs();
    if (!repairs) return EXECUTOR_MISSING;
    const fault = repairs.get(pathOf(processor));
    if (fault === undefined) return run(step);
    const { spec, status } = step.diagnosis;
    if (spec.dryRun || spec.recovery === 'Never') return run(step);
    const permission = await options.slots.begin({
      createdAt: step.diagnosis.createdAt,
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
  { shutdown, now = () => new Date() }: RepairStepsOptions,
): Promise<StepOutcome | StepDelay> {
  let outcome: StepOutcome | undefined;
  let isSent = true;
  let isAnswered = true;
  const onNotSent = () => {
    isSent = false;
  };
  const onUnanswered = () => {
    isAnswered = false;
  };
  try {
    await step.onBegun?.({ reason: 'RecoveryBegun', name: turn.lease });
    const stop = AbortSignal.any([step.stop, turn.lost]);
    outcome = await run({ ...step, stop, onNotSent, onUnanswered });
    return isSent ? outcome : EXECUTOR_MISSING;
  } finally {
    const hasFailedOne = hasFailedAction(outcome);
    const hasSucceeded =
      outcome !== undefined && !hasFailedOne && ('planned' in outcome || outcome.succeeded);
    // A step without an answer may have failed.
    const hasFailed = hasFailedOne || (!isAnswered && !shutdown.aborted);
    const time = failureTime(now(), policy.spec);
    const failure = hasFailed ? failureOf(step, time) : undefined;
    await turn.end({ failure, isAnswered, hasSucceeded });
  }
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
