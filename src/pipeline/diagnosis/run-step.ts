import { messageOf } from '../../lib/std/message-of.ts';
import type { Processor } from '../api/processor-of.ts';
import {
  failedWith,
  type OperationResult,
  type StepInput,
} from '../operations/operation-result.ts';
import type { ProcessorHost } from '../operations/processor-host.ts';
import type { Limited, Retry } from '../operations/run-http.ts';
import { ownProcessor, runOperation } from '../operations/run-operation.ts';
import type { CurrentDiagnosis } from '../operations/step-input.ts';
import { type Asking, approvedIn, mayAct, type Wanted } from './approval.ts';
import { EXCHANGES_MAX, PROGRAM_STEPS_MAX, READING_STEPS_MAX } from './limits.ts';
import { Semaphore } from './semaphore.ts';

/** One step of a Diagnosis, whose checkpoint is on disk. */
export interface StepToRun {
  /** The name of the Operation. */
  readonly name: string;
  readonly processor: Processor;
  readonly diagnosis: CurrentDiagnosis;
  readonly input: StepInput;
  /** What is left of the time for the whole. */
  readonly restMs: number;
  /** The same in every attempt of this step, after a crash too. */
  readonly purpose: string;
  readonly stop: AbortSignal;
  /** Told when its server could not be reached and is asked again. */
  readonly onRetry?: (retry: Retry) => void;
}

/** What came of it; or what it would change, once that is approved. */
export type StepOutcome = OperationResult | Asking;

export type RunStep = (step: StepToRun) => Promise<StepOutcome>;

/** What a step needs of the node, for as long as it is run. */
export interface HostRequest {
  readonly timeoutMs: number;
  readonly consent: ProcessorHost['consent'];
  readonly purpose: string;
  readonly stop: AbortSignal;
}

export interface StepNode {
  readonly withHost: <T>(
    request: HostRequest,
    use: (host: ProcessorHost) => Promise<T>,
  ) => Promise<T>;
  /** Who is asked before the node is changed. Absent: the spec of the Diagnosis says it all. */
  readonly consent?: (diagnosis: CurrentDiagnosis) => ProcessorHost['consent'];
  /** Nothing may be changed, whatever the spec says. */
  readonly isDryRun?: boolean;
  /** With whom repairs are made in turn, when steps are not the only ones. */
  readonly repairing?: Semaphore;
}

/** Runs steps on a node: of each kind as many at once as the node can bear, and one that repairs. */
export function stepsOn(node: StepNode): RunStep {
  const { withHost, consent, isDryRun: neverAct = false, repairing = new Semaphore(1) } = node;
  const looking = new Semaphore(READING_STEPS_MAX);
  const programs = new Semaphore(PROGRAM_STEPS_MAX);
  const exchanges = new Semaphore(EXCHANGES_MAX);
  return async (toRun) => {
    const { name, processor, diagnosis, input, restMs, purpose, stop: stopped, onRetry } = toRun;
    // A server that cannot be reached is asked again for minutes; the time for the whole is over first.
    const stop = stopWithin(restMs, stopped);
    const isDryRun = neverAct || Boolean(diagnosis.spec.dryRun);
    const timeoutMs = Math.max(Math.min(processor.timeoutSeconds * 1_000, restMs), 1);
    const wanted: Wanted[] = [];
    const request = {
      timeoutMs,
      purpose,
      stop,
      consent: consent?.(diagnosis) ?? policyOf(diagnosis, wanted),
    };
    const run = async () => {
      stop.throwIfAborted();
      const limited: Limited = (attempt) => exchanges.take(attempt, stop);
      const retrying = onRetry ? { onRetry } : {};
      const step = { name, processor, input, timeoutMs, isDryRun, limited, ...retrying };
      return withHost(request, (host) => runOperation({ ...step, host }));
    };
    const own = ownProcessor(processor);
    const isPlan = isDryRun || !(consent || mayAct(diagnosis.spec, diagnosis.status));
    // A plan changes nothing, and so holds up no repair. A server has a turn for each attempt.
    const ownSemaphore = own?.repairs && !isPlan ? repairing : looking;
    const semaphore = own ? ownSemaphore : processor.way === 'http' ? undefined : programs;
    const result = await unbroken(semaphore ? semaphore.take(run, stop) : run(), stop);
    return wanted.length > 0
      ? { wanted, record: { actions: result.record?.actions ?? [] } }
      : result;
  };
}

export function stopWithin(restMs: number, stop: AbortSignal): AbortSignal {
  return Number.isFinite(restMs) ? AbortSignal.any([stop, AbortSignal.timeout(restMs)]) : stop;
}

/** What the spec says of changing the node; what it lets nobody do yet is written down. */
function policyOf({ spec, status }: CurrentDiagnosis, wanted: Wanted[]): ProcessorHost['consent'] {
  const isApproved = approvedIn(spec, status);
  return async ({ actions }, { summary }, { fault, id }) => {
    if (spec.dryRun) return { given: 'to-plan' };
    if (spec.recovery === 'Never') return { given: 'none', why: 'refused: spec.recovery is Never' };
    if (spec.recovery !== 'Approval') return { given: 'to-act' };
    const thing: Wanted = { fault, finding: id, summary, actions };
    if (isApproved(thing)) return { given: 'to-act' };
    wanted.push(thing);
    return { given: 'to-plan' };
  };
}

/** A mistake of ours in one step fails that step: a hundred others are under way beside it. */
export async function unbroken<T>(
  running: Promise<T>,
  stop: AbortSignal,
): Promise<T | OperationResult> {
  try {
    return await running;
  } catch (error) {
    if (error === stop.reason) return failedWith('it was stopped before it began');
    return failedWith(`it broke off by a mistake in kubediag: ${messageOf(error)}; report this`);
  }
}
