import type { ManualSteps } from './action.ts';
import type { UnknownReason } from './evidence.ts';
import type { Finding, Subject } from './finding.ts';
import { failuresOf, type ReadError, type ReadFailure } from './node-reader.ts';

/** Something that the fault could not determine, and why. */
export interface Unknown {
  readonly why: string;
  /** The failure of a read, if that is the only reason. */
  readonly failure?: ReadFailure;
  /** The failures of all reads that it comes from. */
  readonly failures?: readonly ReadFailure[];
  /** What it is about; not set if it is about the whole node. */
  readonly subject?: Subject;
  /** What a user can do about it if we must not. */
  readonly manual?: ManualSteps;
}

interface Judged<P extends object> {
  readonly findings: readonly Finding<P>[];
  /** What could not be determined, also if something was found. */
  readonly unknowns: readonly Unknown[];
  /** After this time the verdict will be another one, although nothing on the node changes. */
  readonly checkAgainInMs?: number;
}

/** "clear" is a claim about the node. "unknown" is a different answer, with its reasons. */
export type Verdict<P extends object = object> =
  | (Judged<P> & { readonly state: 'found' | 'unknown' })
  | (Judged<P> & { readonly state: 'clear'; readonly unknowns: readonly [] });

/** The unknown that a failed read causes. */
export function unknownFrom({ why, error }: UnknownReason, lead = ''): Unknown {
  return {
    ...unknownWith(`${lead}${why}`, error),
    ...(error && { failure: error.failure }),
  };
}

/** An unknown that also has other reasons than the failed read. */
export function unknownWith(why: string, error: ReadError | undefined): Unknown {
  return { why, ...(error && { failures: failuresOf(error) }) };
}

/** The verdict from findings and unknowns. With an unknown, the verdict is never `clear`. */
export function verdictOf<P extends object>(seen: Judged<P>): Verdict<P> {
  const { findings, unknowns } = seen;
  if (findings.some(({ state }) => state !== 'benign')) return { ...seen, state: 'found' };
  if (unknowns.length > 0) return { ...seen, state: 'unknown' };
  return { ...seen, state: 'clear', unknowns: [] };
}
