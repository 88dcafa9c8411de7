import type { Origin } from './origin.ts';
/** Worst first. Reports use the same order. */
export const FINDING_STATES = ['damaged', 'active', 'latent', 'benign'] as const;

/**
 * damaged: harm is done. active: it does harm now. latent: it will do harm, for example at the next
 * restart. benign: seen, and harmless here.
 */
export type FindingState = (typeof FINDING_STATES)[number];

/** True for findings that `kubediag recover --yes` repairs without further options. */
export function isActive({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'damaged' || state === 'active';
}

/** A line that an engineer can verify, and where we read it. */
export interface Proof {
  /** What the line shows. */
  readonly claim: string;
  /** The line as it was read; not set if the claim says everything. */
  readonly text?: string;
  readonly origin: Origin;
}

/** What the finding is about. Every field that applies is set. */
export interface Subject {
  readonly namespace?: string;
  readonly pod?: string;
  readonly podUid?: string;
  readonly container?: string;
  readonly volume?: string;
  readonly mount?: string;
  readonly path?: string;
}

/** A manual step: a sentence, a command to copy, or both. */
export type Step =
  | { readonly text: string; readonly command?: string }
  | { readonly text?: never; readonly command: string };

/**
 * One place where a node has the fault. The pins identify the faulty thing, and form the finding's
 * id.
 */
export interface Finding<P extends object = object> {
  readonly state: FindingState;
  /** A CamelCase word from the fault's list of reasons. */
  readonly reason: string;
  /** One sentence that a tired person understands. */
  readonly summary: string;
  readonly subject: Subject;
  readonly proof: readonly Proof[];
  readonly blastRadius: string;
  /** Similar causes that were checked and ruled out. */
  readonly excluded: readonly string[];
  /** Repairs other than ours. */
  readonly alternatives: readonly Step[];
  /** Why we never repair it, so that only a person can. */
  readonly refusal?: string;
  /** What prevents the fault from coming back after the repair. */
  readonly prevention?: readonly string[];
  readonly pins: P;
  /** The uids of the pods that the user must name, because we cannot prove that they are gone. */
  readonly mustName?: readonly string[];
}
