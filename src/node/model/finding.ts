import type { Origin } from './origin.ts';
/** Worst first; the order is the order on the screen. */
export const FINDING_STATES = ['damaged', 'active', 'latent', 'benign'] as const;

/**
 * damaged: harm is done. active: it hurts now. latent: it will hurt, for example at the next
 * restart. benign: seen, and harmless here.
 */
export type FindingState = (typeof FINDING_STATES)[number];

/** What a person wants cured without a further word: the rest is cured only where it is named. */
export function isActive({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'damaged' || state === 'active';
}

/** A line a sceptical engineer can check by hand, and where it was read. */
export interface Proof {
  /** What the line shows, in words. */
  readonly claim: string;
  /** The line itself, as it was read; absent when the claim is the whole of it. */
  readonly text?: string;
  readonly origin: Origin;
}

/** What the finding is about; every field that applies. */
export interface Subject {
  readonly namespace?: string;
  readonly pod?: string;
  readonly podUid?: string;
  readonly container?: string;
  readonly volume?: string;
  readonly mount?: string;
  readonly path?: string;
}

/** One place where a node has the fault. Pins name the thing itself; its id is made from them. */
export interface Finding<P extends object = object> {
  readonly state: FindingState;
  /** A CamelCase word from the fault's own list of reasons. */
  readonly reason: string;
  /** One sentence that a tired person understands. */
  readonly summary: string;
  readonly subject: Subject;
  readonly proof: readonly Proof[];
  readonly blastRadius: string;
  /** The look-alikes that were checked and ruled out. */
  readonly excluded: readonly string[];
  /** Other cures than ours, each a command or a sentence: `advice.ts` tells them apart. */
  readonly alternatives: readonly string[];
  /** Why our hands would refuse it whatever they are told: then only a person can cure it. */
  readonly refusal?: string;
  /** What keeps it from happening again, once it is cured. */
  readonly prevention?: readonly string[];
  readonly pins: P;
  /** The uids of the pods that a person must name: whether they are gone is not proven. */
  readonly mustName?: readonly string[];
  /** What the pinned thing held when it was looked at, for its recovery; no part of its id. */
  readonly contents?: readonly string[];
}
