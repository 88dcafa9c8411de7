import type { SeenPod } from '../api/named-pod.ts';
import { failedWith } from '../steps/operation-result.ts';
import {
  type EarlierRecord,
  type StepOutcome,
  type StepToRun,
  stopWithin,
} from '../steps/step-to-run.ts';
import { type Executor, type ReadFile, ResultReadError, type SettledJournal } from './executor.ts';
import { ABSENT_MS, REMOVALS_WAITING_MAX, RETAINS_WAITING_MAX } from './limits.ts';
import type { Answer, AskOptions, OpenRequests } from './open-requests.ts';
import type { StepRequest } from './request-schema.ts';

/** The executor as the agent sees it: each function is one request. */
export function remoteExecutor(
  requests: OpenRequests,
  { builtIns, repairs }: Pick<Executor, 'builtIns' | 'repairs'>,
): Executor {
  const earlierActions = async (purpose: string, options: AskOptions): Promise<EarlierRecord> => {
    const answer = await requests.ask({ kind: 'earlier-actions', purpose }, options);
    if ('value' in answer) return answer.value as EarlierRecord;
    return { isKnown: false, why: whyNot(answer) };
  };
  return {
    runStep: async (step) => {
      const { restMs, stop, processor, purpose } = step;
      const patienceMs = Math.min(processor.timeoutSeconds * 1_000, restMs);
      // A request that is sent again has its whole time again: the deadline ends it all the same.
      const ending = stopWithin(restMs, stop);
      const answer = await requests.ask(stepRequest(step), { stop: ending, patienceMs });
      if ('value' in answer) return answer.value as StepOutcome;
      const why = whyNot(answer);
      if ('refused' in answer) return failedWith(why, undefined, 'Refused');
      if (!answer.wasSent) {
        step.onNotSent?.();
        return failedWith(why);
      }
      step.onUnanswered?.();
      // An executor that comes back knows what it had done.
      const again = { stop, patienceMs: Math.min(ABSENT_MS, patienceMs) };
      const earlier = await earlierActions(purpose, again);
      if (earlier.isKnown) return failedWith(why, earlier.record);
      const todo = 'run "kubediag journal" on the node';
      return failedWith(`${why}; if it is a step that acts, it may have done so: ${todo}`);
    },
    findPod: async (pod, restMs, stop) => {
      const patienceMs = Math.min(ABSENT_MS, restMs);
      const request = { kind: 'find-pod', pod, ...rest(restMs) } as const;
      const answer = await requests.ask(request, { stop, patienceMs });
      if ('value' in answer) return answer.value as SeenPod;
      return { state: 'unknown', why: whyNot(answer) };
    },
    earlierActionsFor: (purpose) => earlierActions(purpose, { patienceMs: ABSENT_MS }),
    largeResults: remoteResults(requests),
    readFile: (path) => readFile(requests, path),
    settleJournal: async () => {
      const answer = await requests.ask({ kind: 'settle-journal' }, { patienceMs: ABSENT_MS });
      if ('value' in answer) return answer.value as SettledJournal;
      return { isSettled: false, why: whyNot(answer) };
    },
    builtIns,
    repairs,
  };
}

/** Only the parts of a Diagnosis that decide whether a repair may act. */
function stepRequest(step: StepToRun): StepRequest {
  const { name, processor, input, largeInput, purpose, restMs } = step;
  const { spec, status, createdAt: _, ...names } = step.diagnosis;
  const { recovery, dryRun, approvedPlan } = spec;
  const { plan, plannedActions, checkpoint } = status;
  return {
    kind: 'run-step',
    ...{ name, processor, input, purpose },
    ...(largeInput ? { largeInput: [...largeInput] } : {}),
    ...rest(restMs),
    diagnosis: {
      ...names,
      spec: {
        ...(recovery === undefined ? {} : { recovery }),
        ...(dryRun === undefined ? {} : { dryRun }),
        ...(approvedPlan === undefined ? {} : { approvedPlan }),
      },
      status: {
        ...(plan === undefined ? {} : { plan }),
        ...(plannedActions === undefined ? {} : { plannedActions }),
        ...(checkpoint === undefined ? {} : { checkpoint }),
      },
    },
  };
}

/** JSON has no number for "no limit". */
function rest(restMs: number): { readonly restMs?: number } {
  return Number.isFinite(restMs) ? { restMs: Math.max(restMs, 1) } : {};
}

function remoteResults(requests: OpenRequests): Executor['largeResults'] {
  const ask = (request: Parameters<OpenRequests['ask']>[0], patienceMs = ABSENT_MS) =>
    requests.ask(request, { patienceMs });
  /**
   * Results that nobody removes fill the disk: this waits until an executor is there. Those above the
   * limit are left to the next `retain`, which removes all that no Diagnosis has.
   */
  const removals = (waitingMax: number) => {
    let waiting = 0;
    return async (request: Parameters<typeof ask>[0]) => {
      if (waiting >= waitingMax) return;
      waiting += 1;
      await ask(request, Number.POSITIVE_INFINITY);
      waiting -= 1;
    };
  };
  const remove = removals(REMOVALS_WAITING_MAX);
  const retain = removals(RETAINS_WAITING_MAX);
  const results: Executor['largeResults'] = {
    store: async (uid, file, text) => {
      const answer = await ask({ kind: 'store-result', uid, file, text });
      if (!('value' in answer)) return { ok: false, why: whyNot(answer) };
      const stored = answer.value as Awaited<ReturnType<typeof results.store>>;
      return stored.ok ? { ok: true, value: undefined } : stored;
    },
    remove: (uid) => remove({ kind: 'remove-results', uid }),
    retain: (uids) => retain({ kind: 'retain-results', uids: [...uids] }),
  };
  return results;
}

interface Chunk {
  readonly bytes: number;
  readonly base64: string;
}

async function readFile(requests: OpenRequests, path: string): Promise<ReadFile | undefined> {
  const chunkAt = async (offset: number): Promise<Chunk | undefined> => {
    const answer = await requests.ask(
      { kind: 'read-file', path, offset },
      { patienceMs: ABSENT_MS },
    );
    if ('value' in answer) return (answer.value as Chunk | null) ?? undefined;
    throw new ResultReadError(`${path}: ${whyNot(answer)}`);
  };
  const first = await chunkAt(0);
  if (!first) return undefined;
  const { bytes } = first;
  return { bytes, pieces: piecesOf(path, first, chunkAt) };
}

async function* piecesOf(
  path: string,
  first: Chunk,
  chunkAt: (offset: number) => Promise<Chunk | undefined>,
): AsyncGenerator<Uint8Array> {
  let next: Chunk | undefined = first;
  for (let offset = 0; offset < first.bytes; ) {
    const piece = Buffer.from(next?.base64 ?? '', 'base64');
    // What has become shorter must not look whole.
    if (piece.length === 0 || next?.bytes !== first.bytes) {
      throw new ResultReadError(`${path} has changed while it was read`);
    }
    yield piece;
    offset += piece.length;
    if (offset < first.bytes) next = await chunkAt(offset);
  }
}

function whyNot(answer: Exclude<Answer, { readonly value: unknown }>): string {
  if ('stopped' in answer) return 'stopped';
  return 'refused' in answer ? `the executor refused: ${answer.refused}` : answer.absent;
}
