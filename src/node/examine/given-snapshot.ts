import type { Evidence, Snapshot } from '../model/evidence.ts';
import { ReadError } from '../model/node-reader.ts';
import type { CaseFile } from './case-file.ts';

/** A snapshot that has only the given texts. Nothing is guessed for the rest. */
export function givenSnapshot(file: CaseFile): Snapshot {
  const { values, collectors, node } = file;
  const collected = new Map<Evidence<unknown>, Promise<unknown>>();
  const collect = async (evidence: Evidence<unknown>): Promise<unknown> => {
    if (values.has(evidence)) return values.get(evidence);
    const special = collectors.get(evidence);
    if (special) return special(snapshot);
    if (evidence.isDerived) return evidence.collect(snapshot);
    throw new ReadError('not-recorded', evidence.title, 'not among what was given');
  };
  const snapshot: Snapshot = {
    node,
    settings: {},
    logSignatures: [],
    of<T>(evidence: Evidence<T>): Promise<T> {
      const already = collected.get(evidence) as Promise<T> | undefined;
      if (already) return already;
      const collecting = collect(evidence);
      collected.set(evidence, collecting);
      return collecting as Promise<T>;
    },
  };
  return snapshot;
}
