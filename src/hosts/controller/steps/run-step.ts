import { timeText } from '../../../pipeline/graph/conditions.ts';
import { type ControllerStep, controllerStepOf } from '../../../pipeline/steps/controller-steps.ts';
import {
  failedWith,
  type OperationResult,
  refusedWith,
} from '../../../pipeline/steps/operation-result.ts';
import { approvedDigests, mayAct } from '../../../pipeline/steps/plan.ts';
import {
  failingAlone,
  type RunStepWhenDue,
  type StepDelay,
  type StepOutcome,
  type StepToRun,
  stopWithin,
} from '../../../pipeline/steps/step-to-run.ts';
import { answerOf, retried } from '../../../pipeline/store/store-answer.ts';
import { lacksRight, type StoreError } from '../../../pipeline/store/store-error.ts';
import type { ControllerContext } from '../controller-context.ts';
import { recordEvent } from '../record-event.ts';
import { type ClusterChange, digestOfChange, type Judged, recordOf } from './cluster-change.ts';
import { collectStatefulSet } from './collect-stateful-set.ts';
import { judgeCordon } from './cordon-node.ts';
import { judgeStuckPod } from './delete-stuck-pod.ts';
import { CHANGE_ATTEMPTS_MAX } from './limits.ts';
import { whyNotPermitted } from './policy.ts';

type Run = (step: StepToRun, context: ControllerContext) => Promise<StepOutcome | StepDelay>;

const RUNS: Readonly<Record<ControllerStep, Run>> = {
  nodeCordon: changing(judgeCordon),
  statefulsetDetail: collectStatefulSet,
  statefulsetStuck: changing(judgeStuckPod),
};

/** Runs a step within its time limit. An API server that restarts is waited for. */
export function runStepFor(context: ControllerContext): RunStepWhenDue {
  return async (step) => {
    const name = controllerStepOf(step.processor);
    if (!name) throw new Error(`${step.name} is not a step of the controller`);
    const limitMs = Math.min(step.processor.timeoutSeconds * 1_000, step.restMs);
    const stop = stopWithin(limitMs, step.stop);
    const run = async (): Promise<StepOutcome | StepDelay> => {
      const answer = await retried(() => RUNS[name](step, context), { shutdown: stop });
      return answer.ok ? answer.value : failedWith(failureText(answer.error));
    };
    return failingAlone(run(), stop);
  };
}

/** Judges the objects as they are now, and changes one if the Diagnosis and the RecoveryPolicy permit it. */
function changing(judge: (step: StepToRun, context: ControllerContext) => Promise<Judged>): Run {
  return async (step, context) => {
    for (let attempt = 1; ; attempt += 1) {
      const judged = await judge(step, context);
      if (judged.state !== 'change') return resultOf(judged, context.now());
      const answer = await answerOf(changed(step, judged.change, context));
      if (answer.ok) return answer.value;
      // Somebody else has changed it since it was judged: it is judged again.
      const isOther = answer.error.reason === 'Conflict';
      if (!isOther || attempt >= CHANGE_ATTEMPTS_MAX) throw answer.error;
    }
  };
}

function resultOf(
  judged: Exclude<Judged, { readonly state: 'change' }>,
  now: Date,
): OperationResult {
  if (judged.state === 'failed') return failedWith(judged.why);
  if (judged.state === 'refused') return refusedWith(judged.why);
  const { results, change } = judged;
  if (!change) return { succeeded: true, results };
  const action = { ...recordOf(change), state: 'done', endTime: timeText(now) };
  return { succeeded: true, results, record: { actions: [action] } };
}

/** Within the spec of the Diagnosis, an approval and the RecoveryPolicy. */
async function changed(
  { diagnosis }: StepToRun,
  change: ClusterChange,
  context: ControllerContext,
): Promise<StepOutcome | StepDelay> {
  const { spec, status } = diagnosis;
  const record = recordOf(change);
  const plan = { plannedActions: [record] };
  if (spec.dryRun) {
    const [key = ''] = Object.keys(change.results);
    return { succeeded: true, results: { [key]: `would ${change.description}` }, record: plan };
  }
  if (spec.recovery === 'Never') return refusedWith('spec.recovery is Never', plan);
  const digest = digestOfChange(change);
  const isApproved = () => mayAct(spec, status) && approvedDigests(spec, status).has(digest);
  if (spec.recovery === 'Approval' && !isApproved()) return { planned: [{ ...record, digest }] };
  const notPermitted = await whyNotPermitted(context, diagnosis.createdAt);
  if (notPermitted) return notPermitted;
  const isDone = await change.perform();
  const endTime = timeText(context.now());
  if (isDone) {
    await report(change, diagnosis, context);
    const action = { ...record, state: 'done', endTime };
    return { succeeded: true, results: change.results, record: { actions: [action] } };
  }
  const message = 'the API server accepted it, but a read afterwards does not show it';
  const action = { ...record, state: 'no-effect', endTime, message };
  return failedWith(`${change.description}: ${message}`, { actions: [action] });
}

async function report(
  { description, summary, object, eventReason }: ClusterChange,
  { namespace, name }: StepToRun['diagnosis'],
  context: ControllerContext,
): Promise<void> {
  const note = `Diagnosis ${namespace}/${name}: ${description}: ${summary}`;
  context.onMessage(note);
  const event = { type: 'Normal', reason: eventReason, action: 'RunStep', note } as const;
  await recordEvent(context, { ...event, regarding: object });
}

function failureText(error: StoreError): string {
  if (!lacksRight(error)) return error.message;
  const todo = 'kubectl apply -f deploy/controller-steps.yaml grants it';
  return `the controller lacks a right for this step (${todo}): ${error.message}`;
}
