import { messageOf } from '../../lib/std/message-of.ts';
import type { Processor } from '../api/processor-of.ts';
import type { ConditionReason } from '../api/reasons.ts';
import {
  failedWith,
  type LargeResult,
  type OperationResult,
  type StepInput,
  type StepRecord,
} from './operation-result.ts';
import type { ApprovalRequest } from './plan.ts';
import type { Retry } from './run-http.ts';
import type { CurrentDiagnosis } from './step-input.ts';

/** A large result of an earlier step: its key in the input, and its file on the node. */
export type LargeInput = Pick<LargeResult, 'key' | 'file'>;

/** One step of a Diagnosis whose checkpoint is stored. */
export interface StepToRun {
  /** The name of the Operation. */
  readonly name: string;
  readonly processor: Processor;
  readonly diagnosis: CurrentDiagnosis;
  readonly input: StepInput;
  /** Results of earlier steps that are in files; `input` has a sentence instead of each. */
  readonly largeInput?: readonly LargeInput[];
  /** Time left until the deadline of the Diagnosis. */
  readonly restMs: number;
  /** Identifies the step in the journal: the same for every attempt, also after a crash. */
  readonly purpose: string;
  readonly stop: AbortSignal;
  /** Called when its server could not be reached and will be asked again. */
  readonly onRetry?: (retry: Retry) => void;
  /** Called when a step begins that may have waited: the condition of its wait becomes False. */
  readonly onBegun?: (end: StepWait) => Promise<void>;
  /** Called before a result of a step that no executor got. */
  readonly onNotSent?: () => void;
  /** Called before a result that its executor has not given: it had the step, and may still act. */
  readonly onUnanswered?: () => void;
}

/** The reason of a condition, and the name that goes into its message. */
export interface StepWait {
  readonly reason: ConditionReason;
  readonly name: string;
}

/** The result, or the actions that need approval first. */
export type StepOutcome = OperationResult | ApprovalRequest;

/** The step cannot run now. It is sent again after this time, and when something changes. */
export interface StepDelay {
  readonly notNow: StepWait;
  readonly againMs: number;
}

export type RunStep = (step: StepToRun) => Promise<StepOutcome>;

/** Runs a step, or says what it waits for. */
export type RunStepWhenDue = (step: StepToRun) => Promise<StepOutcome | StepDelay>;

/** What an interrupted step had done to the node. */
export type EarlierRecord =
  | { readonly isKnown: true; readonly record: StepRecord }
  /** An action was begun, and nobody can say yet whether it came about. */
  | { readonly isKnown: false; readonly why: string };

export function stopWithin(restMs: number, stop: AbortSignal): AbortSignal {
  return Number.isFinite(restMs) ? AbortSignal.any([stop, AbortSignal.timeout(restMs)]) : stop;
}

/** A defect of ours fails its own step only, because others run beside it. */
export async function failingAlone<T>(
  running: Promise<T>,
  stop: AbortSignal,
): Promise<T | OperationResult> {
  try {
    return await running;
  } catch (error) {
    if (error === stop.reason) return failedWith('stopped before it began');
    return failedWith(`defect in kubediag, please report it: ${messageOf(error)}`);
  }
}
