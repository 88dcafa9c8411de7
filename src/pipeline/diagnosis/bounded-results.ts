import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { fileOf } from './large-results.ts';
import {
  RESULT_SHOWN_BYTES_MAX,
  RESULTS_COMPLETE_BYTES_MAX,
  RESULTS_SHOWN_BYTES_MAX,
} from './limits.ts';

type Results = Readonly<Record<string, string>>;
type Large = NonNullable<DiagnosisStatus['largeResults']>[number];
type Shown = Pick<DiagnosisStatus, 'operationResults' | 'largeResults'>;

export type BoundedResults =
  | {
      /** What the status shows, once the files are kept. */
      readonly shown: Required<Shown>;
      readonly files: readonly { readonly file: string; readonly text: string }[];
    }
  | { readonly trouble: string };

/**
 * What a status shows of all results with the new ones among them. A value that is too large is kept
 * as a file, and a sentence stands for it; so are the largest of many that are too much together.
 */
export function boundedResults(uid: string, before: Shown, more: Results): BoundedResults {
  const stored = (before.largeResults ?? []).filter(({ key }) => !Object.hasOwn(more, key));
  const isStored = new Set(stored.map(({ key }) => key));
  const all: Results = { ...before.operationResults, ...more };
  const small = Object.entries(all)
    .filter(([key]) => !isStored.has(key))
    .map(([key, text]) => ({ key, text, bytes: jsonBytes(text) }))
    .toSorted((left, right) => left.bytes - right.bytes);
  const shown: Record<string, string> = { ...all };
  const large: Large[] = [...stored];
  const files: { file: string; text: string }[] = [];
  let total = Object.entries(all).reduce((sum, pair) => sum + jsonBytes(pair), 0);
  for (let last = small.pop(); last; last = small.pop()) {
    const { key, text, bytes } = last;
    if (bytes <= RESULT_SHOWN_BYTES_MAX && total <= RESULTS_SHOWN_BYTES_MAX) break;
    const entry = { key, bytes: Buffer.byteLength(text), file: fileOf(key, text) };
    const words = standIn(uid, entry);
    total += jsonBytes(words) - bytes;
    shown[key] = words;
    large.push(entry);
    files.push({ file: entry.file, text });
  }
  const whole = large.reduce((sum, { bytes }) => sum + bytes, total);
  if (total > RESULTS_SHOWN_BYTES_MAX) {
    return { trouble: `there are so many results that not even their names fit into a status` };
  }
  if (whole > RESULTS_COMPLETE_BYTES_MAX) {
    const most = RESULTS_COMPLETE_BYTES_MAX;
    return {
      trouble: `with its results there are more than ${most} bytes of them, which is the limit`,
    };
  }
  return { shown: { operationResults: shown, largeResults: large }, files };
}

function standIn(uid: string, { bytes, file }: Large): string {
  return `(${bytes} bytes: too large for a status, kept beside the store; the agent hands it out at /results/${uid}/${file})`;
}

/** As it counts in etcd: a newline has two bytes there, and a control character six. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
