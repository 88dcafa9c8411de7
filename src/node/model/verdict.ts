import type { ManualSteps } from './action.ts';
import type { Maybe } from './evidence.ts';
import type { Finding, Subject } from './finding.ts';
import type { ReadFailure } from './node-reader.ts';

/** Something that could not be judged, and why. */
export interface Unknown {
  readonly why: string;
  /** How a read failed, where that alone is the reason. */
  readonly failure?: ReadFailure;
  /** What it is about; absent when it is about the whole node. */
  readonly subject?: Subject;
  /** What a person could do about it where we must not. */
  readonly manual?: ManualSteps;
}

/** "clear" is a claim about the node. Not knowing is a different answer, and it says why. */
export interface Verdict<P extends object = object> {
  readonly state: 'found' | 'clear' | 'unknown';
  readonly findings: readonly Finding<P>[];
  /** What could not be judged, also beside what was found. */
  readonly unknowns: readonly Unknown[];
}

/** What a read that failed leaves unknown. */
export function unknownFrom(
  { why, error }: Extract<Maybe<unknown>, { readonly known: false }>,
  lead = '',
): Unknown {
  return { why: `${lead}${why}`, ...(error && { failure: error.failure }) };
}

/** Weighs what a fault saw. A benign finding is no alarm, and an unknown is never `clear`. */
export function verdictOf<P extends object>(seen: Omit<Verdict<P>, 'state'>): Verdict<P> {
  if (seen.findings.some(({ state }) => state !== 'benign')) return { state: 'found', ...seen };
  return { state: seen.unknowns.length > 0 ? 'unknown' : 'clear', ...seen };
}
