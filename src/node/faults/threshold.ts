import type { Evidence } from '../model/evidence.ts';
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

/** A number, the value from which on it is worth a warning, and the one at which the fault begins. */
export interface Measure extends Fact {
  readonly value: number;
  readonly warnAt: number;
  readonly failAt: number;
  /** The lower the worse, such as free bytes or the days until a certificate expires. */
  readonly isFalling?: boolean;
}

/** Judges numbers by two limits: `latent` from the first one on, `active` from the second one on. */
export function threshold<T, M extends Measure>(check: {
  readonly evidence: Evidence<T | Absent>;
  readonly measure: (value: T) => readonly (M | Unknown)[];
  readonly warn: Message<M>;
  readonly fail: Message<M>;
  /** Where a node may lack what is measured; benign. */
  readonly absent?: Message<Absent>;
}): Check {
  const { evidence, measure, warn, fail, absent } = check;
  return {
    evidence,
    reasons: reasonsOf(fail, warn, absent),
    observe: (value: T | Absent) => {
      if (isAbsent(value)) return absent ? [observed(absent, 'benign', value)] : [];
      return measure(value).flatMap((each): readonly (Observation | Unknown)[] => {
        if ('why' in each) return [each];
        if (isReached(each, each.failAt)) return [observed(fail, 'active', each)];
        return isReached(each, each.warnAt) ? [observed(warn, 'latent', each)] : [];
      });
    },
  };
}

function isReached({ value, isFalling = false }: Measure, limit: number): boolean {
  return isFalling ? value <= limit : value >= limit;
}
