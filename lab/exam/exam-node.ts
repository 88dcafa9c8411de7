import type { Ran } from '../enter.ts';
import type { Snapshot } from './compare.ts';

/** The practice node as the exam has it in its hands, from outside. */
export interface ExamNode {
  /** From a deed to the moment at which it must be at rest again. */
  readonly settleMs: number;
  /** Runs this very program there, as a person would. Rejects when it does not end in time. */
  kubediag(args: readonly string[], limitMs: number): Promise<Ran>;
  /** Breaks it in one way; rejects with the reason when it cannot be. */
  make(caseName: string): Promise<void>;
  heal(): Promise<void>;
  snapshot(): Promise<Snapshot>;
}
