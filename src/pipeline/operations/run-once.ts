import { createHash } from 'node:crypto';
import type { Tried } from '../../lib/state/state-folder.ts';
import { isObject, jsonValue, textAt } from '../../lib/std/json.ts';
import type { Semaphore } from '../../lib/std/semaphore.ts';
import { failedWith, type OperationResult } from '../steps/operation-result.ts';

/** Files of a Diagnosis on the node, which are deleted with it. */
export interface RunRecords {
  readonly read: (uid: string, file: string) => Promise<Tried<string | undefined>>;
  /** Durable when it resolves. */
  readonly store: (uid: string, file: string, text: string) => Promise<Tried<void>>;
}

/** The last run of a program in a Diagnosis, as its file has it. */
interface RunRecord {
  /** The step that started it. */
  readonly step: string;
  readonly startTime: string;
  /** Absent until the program has ended by itself. */
  readonly result?: OperationResult;
}

export interface RunOnce {
  readonly records: RunRecords;
  readonly uid: string;
  /** Identifies the node of the graph: the same in every path. */
  readonly purpose: string;
  /** Identifies the step: the same in every attempt, another one in each path. */
  readonly step: string;
  readonly stop: AbortSignal;
  /** Of all programs on this node. */
  readonly starting: Semaphore;
}

/**
 * Runs a program of an Operation at most once for each step, whatever is killed meanwhile: nobody but
 * its author knows whether it may run again. A step that is sent again after its program has ended gets
 * that result. One whose program was interrupted fails, and so does the same program in later paths of
 * the graph.
 */
export async function runOnce(
  run: () => Promise<OperationResult>,
  { records, uid, purpose, step, stop, starting }: RunOnce,
): Promise<OperationResult> {
  const file = createHash('sha256').update(`run\0${purpose}`).digest('hex').slice(0, 32);
  const startTime = new Date().toISOString();
  const store = (result?: OperationResult) =>
    records.store(
      uid,
      file,
      JSON.stringify({ step, startTime, ...(result ? { result } : {}) } satisfies RunRecord),
    );
  // One at a time: of two requests for the same step, the second one finds the start of the first.
  const ended = await starting.run(async () => {
    const found = await records.read(uid, file);
    if (!found.ok) return failedWith(`it was not started: ${found.why}`);
    const earlier = found.value === undefined ? undefined : earlierResult(found.value, step);
    if (earlier) return earlier;
    const begun = await store();
    if (begun.ok) return undefined;
    return failedWith(`it was not started: its record cannot be stored: ${begun.why}`);
  });
  if (ended) return ended;
  // The next agent may have sent the step again before the record was on disk.
  if (stop.aborted) return failedWith('it was not started: it was stopped');
  const result = await run();
  // A result that is not stored counts all the same, as long as this process lives.
  if (result.succeeded || !stop.aborted) await store(result);
  return result;
}

/** Undefined if the program has ended in another path: it may get another input here. */
function earlierResult(text: string, step: string): OperationResult | undefined {
  const record = jsonValue(text)?.value;
  if (isObject(record) && isObject(record.result)) {
    return record.step === step ? (record.result as unknown as OperationResult) : undefined;
  }
  const when = textAt(record, 'startTime') ?? 'earlier';
  return failedWith(
    `it was started at ${when} and interrupted when kubediag ended or lost its connection; it is not ` +
      'run again, because it may have done part of its work: check the node, then create a new Diagnosis',
  );
}
