import { cutSentence } from '../../lib/std/cut-sentence.ts';
import { defined } from '../../lib/std/defined.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { StepResult } from '../api/results.ts';
import { endedAs, failedFor, timeText, withReason } from './conditions.ts';
import {
  FAILURE_CHARACTERS_MAX,
  STEP_MESSAGE_CHARACTERS_MAX,
  STEP_MESSAGE_CHARACTERS_MIN,
  STEP_MESSAGES_CHARACTERS_MAX,
  STEPS_LISTED_MAX,
} from './limits.ts';
import type { GraphPath } from './paths.ts';

type Step = NonNullable<DiagnosisStatus['steps']>[number];

/** The status of a Diagnosis after the step at its checkpoint. */
export function afterStep(
  status: DiagnosisStatus,
  paths: readonly GraphPath[],
  result: StepResult,
  now: Date,
): DiagnosisStatus {
  const { pathIndex = 0, nodeIndex = 0 } = status.checkpoint ?? {};
  const path = paths[pathIndex];
  const node = path?.[nodeIndex];
  if (!path || !node) throw new Error(`no step ${pathIndex}/${nodeIndex}`);
  const { startTime } = status.currentStep ?? {};
  const step = defined({
    pathIndex,
    nodeIndex,
    operation: node.operation ?? '',
    startTime,
    endTime: timeText(now),
  });
  if (!result.succeeded) {
    const message = cutSentence(result.message, messageLength(status));
    const rest = path.slice(nodeIndex + 1).map(({ operation = '' }, index): Step => {
      return { pathIndex, nodeIndex: nodeIndex + 1 + index, operation, outcome: 'NotRun' };
    });
    const { reason, results } = result;
    const failed = defined({ ...step, outcome: 'Failed', reason, message });
    const listed = withSteps(status, [failed, ...rest]);
    const found = results ? { operationResults: { ...status.operationResults, ...results } } : {};
    return afterFailure({ ...listed, ...found }, paths, pathIndex, now);
  }
  const merged: DiagnosisStatus = {
    ...withSteps(status, [{ ...step, outcome: 'Succeeded' }]),
    operationResults: { ...status.operationResults, ...result.results },
    succeededPath: [...(status.succeededPath ?? []), node],
  };
  if (nodeIndex + 1 < path.length) {
    return atStep(merged, paths, { pathIndex, nodeIndex: nodeIndex + 1 }, now);
  }
  return endedAs('Succeeded', withReason(merged, 'DiagnosisComplete', now), now);
}

/** The path has failed. Its findings stay, and the next path starts at its first step. */
function afterFailure(
  status: DiagnosisStatus,
  paths: readonly GraphPath[],
  pathIndex: number,
  now: Date,
): DiagnosisStatus {
  const { succeededPath: _, ...rest } = status;
  const failedPaths = [...(status.failedPaths ?? []), [...(paths[pathIndex] ?? [])]];
  const failed = { ...rest, failedPaths };
  if (pathIndex + 1 < paths.length) {
    return atStep(failed, paths, { pathIndex: pathIndex + 1, nodeIndex: 0 }, now);
  }
  const which = paths.length === 1 ? 'The only path failed' : `All ${paths.length} paths failed`;
  const last = status.steps?.findLast(({ outcome }) => outcome === 'Failed');
  const why = last ? `, last at ${last.operation}: ${last.message}` : '';
  const text = cutSentence(`${which}${why}`, FAILURE_CHARACTERS_MAX);
  return failedFor(failed, 'AllPathsFailed', now, text);
}

/** The status of a Diagnosis before it runs this step. */
export function atStep(
  status: DiagnosisStatus,
  paths: readonly GraphPath[],
  place: { readonly pathIndex: number; readonly nodeIndex: number },
  now: Date,
): DiagnosisStatus {
  const { operation = '' } = paths[place.pathIndex]?.[place.nodeIndex] ?? {};
  const currentStep = { operation, startTime: timeText(now) };
  return { ...status, checkpoint: { ...status.checkpoint, ...place }, currentStep };
}

function messageLength({ steps = [] }: DiagnosisStatus): number {
  const taken = steps.reduce((sum, { message = '' }) => sum + message.length, 0);
  const left = Math.min(STEP_MESSAGES_CHARACTERS_MAX - taken, STEP_MESSAGE_CHARACTERS_MAX);
  return Math.max(left, STEP_MESSAGE_CHARACTERS_MIN);
}

function withSteps(status: DiagnosisStatus, more: readonly Step[]): DiagnosisStatus {
  const all = [...(status.steps ?? []), ...more];
  const left = Math.max(all.length - STEPS_LISTED_MAX, 0) + (status.stepsNotListed ?? 0);
  return {
    ...status,
    steps: all.slice(0, STEPS_LISTED_MAX),
    ...(left === 0 ? {} : { stepsNotListed: left }),
  };
}
