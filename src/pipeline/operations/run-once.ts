import { createHash } from 'node:crypto';
import type { Tried } from '../../lib/state/state-folder.ts';
import { isObject, jsonValue, textAt } from '../../lib/std/json.ts';
import { failedWith, type OperationResult } from '../steps/operation-result.ts';

/** Files of a Diagnosis on the node, which are deleted with it. */
export interface RunRecords {
  readonly read: (uid: string, file: string) => Promise<Tried<string | undefined>>;
  /** Durable when it resolves. */
  readonly store: (uid: string, file: string, text: string) => Promise<Tried<void>>;
}

/** A run of a program, as its file has it. */
interface RunRecord {
  readonly startTime: string;
  /** Absent until the program has ended by itself. */
  readonly result?: OperationResult;
}

export interface RunOnce {
  readonly records: RunRecords;
  readonly uid: string;
  /** Identifies the step, the same in every attempt. */
  readonly step: string;
  readonly stop: AbortSignal;
}

/**
 * Runs a program of an Operation at most once for each step, whatever is killed meanwhile: nobody but
 * its author knows whether it may run again. A step that is sent again after its program has ended gets
 * that result. One whose program was interrupted fails.
 */
export async function runOnce(
  run: () => Promise<OperationResult>,
  { records, uid, step, stop }: RunOnce,
): Promise<OperationResult> {
  const file = createHash('sha256').update(`run\0${step}`).digest('hex').slice(0, 32);
  const store = (record: RunRecord) => records.store(uid, file, JSON.stringify(record));
  const found = await records.read(uid, file);
  if (!found.ok) return failedWith(`it was not started: ${found.why}`);
  if (found.value !== undefined) return earlierResult(found.value);
  const startTime = new Date().toISOString();
  const begun = await store({ startTime });
  if (!begun.ok) return failedWith(`it was not started: its record cannot be stored: ${begun.why}`);
  // The next agent may have sent the step again before the record was on disk.
  if (stop.aborted) return failedWith('it was not started: it was stopped');
  const result = await run();
  // A result that is not stored counts all the same, as long as this process lives.
  if (result.succeeded || !stop.aborted) await store({ startTime, result });
  return result;
}

function earlierResult(text: string): OperationResult {
  const record = jsonValue(text)?.value;
  if (isObject(record) && isObject(record.result)) {
    return record.result as unknown as OperationResult;
  }
  const when = textAt(record, 'startTime') ?? 'earlier';
  return failedWith(
    `it was started at ${when} and interrupted when kubediag ended or lost its connection; it is not ` +
      'run again, because it may have done part of its work: check the node, then create a new Diagnosis',
  );
}
