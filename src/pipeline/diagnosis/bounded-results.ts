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
      /** For the status, once the files are stored. */
      readonly shown: Required<Shown>;
      readonly files: readonly { readonly file: string; readonly text: string }[];
    }
  | { readonly error: string };

/**
 * Splits the earlier and the new results into those in the status and those in files. A value that is
 * too large becomes a file, and the status has a sentence instead; so do the largest of too many.
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
    const sentence = standIn(uid, entry);
    total += jsonBytes(sentence) - bytes;
    shown[key] = sentence;
    large.push(entry);
    files.push({ file: entry.file, text });
  }
  const complete = large.reduce((sum, { bytes }) => sum + bytes, total);
  if (total > RESULTS_SHOWN_BYTES_MAX) {
    return { error: 'too many results: their keys alone do not fit into the status' };
  }
  if (complete > RESULTS_COMPLETE_BYTES_MAX) {
    return {
      error: `results of more than ${RESULTS_COMPLETE_BYTES_MAX} bytes, which is the limit`,
    };
  }
  return { shown: { operationResults: shown, largeResults: large }, files };
}

function standIn(uid: string, { bytes, file }: Large): string {
  return `(${bytes} bytes: too large for a status, kept beside the store; the agent hands it out at /results/${uid}/${file})`;
}

/** The size in etcd, where a newline has two bytes and a control character six. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
