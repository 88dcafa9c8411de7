import type { Ran } from '../enter.ts';
import type { Snapshot } from './compare.ts';

/** The practice node as the exam uses it, from outside. */
export interface ExamNode {
  /** How long after an action the node may still change. */
  readonly settleMs: number;
  /** Runs this program there, as a person would. Rejects after the time limit. */
  kubediag(args: readonly string[], limitMs: number): Promise<Ran>;
  /** Makes one break; rejects with the reason if that is not possible. */
  make(caseName: string): Promise<void>;
  heal(): Promise<void>;
  snapshot(): Promise<Snapshot>;
}
