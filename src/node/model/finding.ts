import type { Origin } from './origin.ts';
/** Worst first; the order is the order on the screen. */
export const FINDING_STATES = ['damaged', 'active', 'latent', 'benign'] as const;

/**
 * damaged: harm is done. active: it does harm now. latent: it will do harm, for example at the next
 * restart. benign: seen, and harmless here.
 */
export type FindingState = (typeof FINDING_STATES)[number];

/** What a person wants cured without a further word: the rest is cured only where it is named. */
export function isActive({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'damaged' || state === 'active';
}

/** A line that an engineer can verify, and where it was read. */
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

/** What a person does: a sentence, a command to copy, or a sentence with the command that it is about. */
export type Step =
  | { readonly text: string; readonly command?: string }
  | { readonly text?: never; readonly command: string };

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
  /** Other repairs than ours. */
  readonly alternatives: readonly Step[];
  /** Why we never repair it: then only a person can. */
  readonly refusal?: string;
  /** What prevents it from happening again after the repair. */
  readonly prevention?: readonly string[];
  readonly pins: P;
  /** The uids of the pods that a person must name: whether they are gone is not proven. */
  readonly mustName?: readonly string[];
}
