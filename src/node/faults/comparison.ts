import type { Evidence } from '../model/evidence.ts';
import type { Proof } from '../model/finding.ts';
import type { Unknown } from '../model/verdict.ts';
import {
  type Absent,
  type Check,
  type Fact,
  isAbsent,
  type Message,
  type Observation,
  observed,
  reasonsOf,
} from './short-fault.ts';

/** Two facts that should agree, each with its proof. */
export interface Pair extends Pick<Fact, 'subject' | 'pins'> {
  readonly is: Proof;
  readonly expected: Proof;
  readonly agrees: boolean;
}

/** Judges whether two facts agree: `active` where they do not. */
export function comparison<T, P extends Pair>(check: {
  readonly evidence: Evidence<T | Absent>;
  readonly compare: (value: T) => readonly (P | Unknown)[];
  readonly differs: Message<P & Fact>;
  /** Where a node may lack what is compared; benign. */
  readonly absent?: Message<Absent>;
}): Check {
  const { evidence, compare, differs, absent } = check;
  return {
    evidence,
    reasons: reasonsOf(differs, absent),
    observe: (value: T | Absent) => {
      if (isAbsent(value)) return absent ? [observed(absent, 'benign', value)] : [];
      return compare(value).flatMap((each): readonly (Observation | Unknown)[] => {
        if ('why' in each) return [each];
        if (each.agrees) return [];
        return [observed(differs, 'active', { ...each, proof: [each.is, each.expected] })];
      });
    },
  };
}
