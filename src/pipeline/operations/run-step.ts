import { Semaphore } from '../../lib/std/semaphore.ts';
import type { PodReference, SeenPod } from '../api/named-pod.ts';
import { idempotencyKeyOf } from '../steps/idempotency-key.ts';
import type { StepFile } from '../steps/operation-result.ts';
import { approvedDigests, digestOf, mayAct, plannedOf, type Wanted } from '../steps/plan.ts';
import type { Limited } from '../steps/run-http.ts';
import { type CurrentDiagnosis, podOfStep } from '../steps/step-input.ts';
import {
  type EarlierRecord,
  failingAlone,
  type RunStep,
  stopWithin,
} from '../steps/step-to-run.ts';
import {
  EARLIER_ACTIONS_MS,
  EXCHANGES_MAX,
  POD_LOOKUP_MS,
  PROGRAM_STEPS_MAX,
  READING_STEPS_MAX,
} from './limits.ts';
import { podReferenceOn } from './pod-on-node.ts';
import type { ProcessorHost, WithHost } from './processor-host.ts';
import { actionsOf } from './recover-finding.ts';
import { runForPod } from './run-for-pod.ts';
import { type RunRecords, runOnce } from './run-once.ts';
import { ownProcessor, runOperation } from './run-operation.ts';

interface StepNode {
  readonly withHost: WithHost;
  /** Asked before a repair. Absent: the spec of the Diagnosis decides. */
  readonly consent?: (diagnosis: CurrentDiagnosis) => ProcessorHost['consent'];
  /** Changes nothing, whatever the spec says. */
  readonly isDryRun?: boolean;
  /** Shared with others that repair this node: one repair runs at a time. */
  readonly repairing?: Semaphore;
  /** Shared with the lookup of pods: each starts a reader. */
  readonly reading?: Semaphore;
  /** On a cluster: a step of a Diagnosis that names a pod sees and changes that pod only. */
  readonly limitsToPods?: boolean;
  /** Where runs of scripts and functions are recorded. Absent: nobody sends a step again. */
  readonly runRecords?: RunRecords;
}

/** Runs the steps of a node, with a limit for each kind; one repair runs at a time. */
export function stepsOn(node: StepNode): RunStep {
  const { withHost, consent, isDryRun: neverAct = false, runRecords: records, limitsToPods } = node;
  const { repairing = new Semaphore(1), reading = new Semaphore(READING_STEPS_MAX) } = node;
  const programs = new Semaphore(PROGRAM_STEPS_MAX);
  const exchanges = new Semaphore(EXCHANGES_MAX);
  const starting = new Semaphore(1);
  return async (toRun) => {
    const { name, processor, diagnosis, input, restMs, purpose, stop: stopped, onRetry } = toRun;
    // The retries of an unreachable server take minutes, and the deadline may come first.
    const stop = stopWithin(restMs, stopped);
    const isDryRun = neverAct || Boolean(diagnosis.spec.dryRun);
    const timeoutMs = Math.max(Math.min(processor.timeoutSeconds * 1_000, restMs), 1);
    const pod = limitsToPods ? podOfStep(input) : undefined;
    const wanted: Wanted[] = [];
    const files: StepFile[] = [];
    const request = {
      timeoutMs,
      purpose,
      stop,
      uid: diagnosis.uid,
      isForPod: pod !== undefined,
      onFile: (file: StepFile) => void files.push(file),
      consent: consent?.(diagnosis) ?? policyOf(diagnosis, wanted),
    };
    const run = async () => {
      stop.throwIfAborted();
      const limited: Limited = (attempt) => exchanges.run(attempt, stop);
      const idempotencyKey = idempotencyKeyOf(toRun);
      const step = { name, processor, input, isDryRun, limited, onRetry, idempotencyKey };
      const runNow = () =>
        withHost(request, (host) =>
          pod ? runForPod({ ...step, host }, pod) : runOperation({ ...step, host }),
        );
      if (!records || processor.way === 'http' || isDryRun) return runNow();
      const { uid } = diagnosis;
      return runOnce(runNow, { records, uid, purpose, step: idempotencyKey, stop, starting });
    };
    const own = ownProcessor(processor);
    const isPlan = isDryRun || !(consent || mayAct(diagnosis.spec, diagnosis.status));
    // A plan changes nothing and need not wait for repairs. For HTTP each attempt is limited.
    const ownSemaphore = own?.repairs && !isPlan ? repairing : reading;
    const semaphore = own ? ownSemaphore : processor.way === 'http' ? undefined : programs;
    const result = await failingAlone(semaphore ? semaphore.run(run, stop) : run(), stop);
    // Also those of a step that failed afterwards.
    const listed = files.length > 0 ? { files } : {};
    if (wanted.length > 0) {
      return {
        planned: plannedOf(wanted),
        record: { actions: result.record?.actions ?? [], ...listed },
      };
    }
    return files.length > 0 ? { ...result, record: { ...result.record, files } } : result;
  };
}

/** For requests that only read the node. */
const noConsent = async () => ({ given: 'none', why: 'only the node is read' }) as const;

/** Looks for the pod of a Diagnosis before its first step. `reading` is the one of the steps. */
export function podLookup(withHost: WithHost, reading: Semaphore) {
  return (pod: PodReference, restMs: number, stop: AbortSignal): Promise<SeenPod> => {
    const timeoutMs = Math.max(Math.min(POD_LOOKUP_MS, restMs), 1);
    const request = { timeoutMs, stop, consent: noConsent };
    const look = () => withHost(request, (host) => podReferenceOn(host, pod));
    return reading.run(look, stop);
  };
}

/**
 * What interrupted attempts of a step have done, by its purpose. `repairing` is the one of the steps: this may
 * take the lock of the node, and the next repair waits instead of being refused.
 */
export function earlierRecords(withHost: WithHost, stop: AbortSignal, repairing: Semaphore) {
  const reading = { timeoutMs: EARLIER_ACTIONS_MS, stop, consent: noConsent };
  return (purpose: string): Promise<EarlierRecord> => {
    const read = (): Promise<EarlierRecord> =>
      withHost({ ...reading, purpose }, async (host) => {
        const earlier = await host.earlierActions();
        return earlier.isKnown ? { isKnown: true, record: actionsOf(earlier.done) } : earlier;
      });
    // Most of it is in the journal, also while a step repairs.
    return repairing.isFree ? repairing.run(read) : read();
  };
}

/** Settles what a crash interrupted; not while a step repairs the node. */
export function journalSettling(withHost: WithHost, stop: AbortSignal, repairing: Semaphore) {
  const reading = { timeoutMs: EARLIER_ACTIONS_MS, stop, consent: noConsent };
  const settle = () =>
    withHost(reading, async (host) => {
      const repair = await host.openRepair();
      if (!repair.isOpen)
        return { isSettled: false, why: `${repair.what}; ${repair.why}` } as const;
      repair.close();
      const left = repair.settled.find((each) => 'unsettled' in each);
      if (!left) return { isSettled: true } as const;
      return { isSettled: false, why: left.unsettled } as const;
    });
  return async () =>
    repairing.isFree
      ? repairing.run(settle)
      : ({ isSettled: false, why: 'the executor repairs this node' } as const);
}

/** The consent of the spec. Adds to `wanted` what needs approval first. */
function policyOf({ spec, status }: CurrentDiagnosis, wanted: Wanted[]): ProcessorHost['consent'] {
  const approved = approvedDigests(spec, status);
  return async (request) => {
    if (spec.dryRun) return { given: 'to-plan' };
    if (spec.recovery === 'Never') return { given: 'none', why: 'refused: spec.recovery is Never' };
    if (spec.recovery !== 'Approval') return { given: 'to-act' };
    if (approved.has(digestOf(request))) return { given: 'to-act' };
    wanted.push(request);
    return { given: 'to-plan' };
  };
}
