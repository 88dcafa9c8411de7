import type { DriverContext } from '../diagnosis/driver-context.ts';
import type { LargeResults } from '../diagnosis/large-results.ts';
import type { BuiltIns } from '../steps/built-ins.ts';
import type { RunStep } from '../steps/step-to-run.ts';

/** What an agent asks of the executor on its node. */
export interface Executor extends ExecutorWork {
  /**
   * A file below the state directory that a step has written; undefined if it may not be fetched. Throws
   * a ResultReadError, also while it is read.
   */
  readonly readFile: (path: string) => Promise<ReadFile | undefined>;
  /** From its hello; waits for the executor. */
  readonly builtIns: () => Promise<BuiltIns>;
  /** The fault that a built-in processor repairs, by its path. From its hello; waits for the executor. */
  readonly repairs: () => Promise<ReadonlyMap<string, string>>;
}

export type SettledJournal =
  | { readonly isSettled: true }
  | { readonly isSettled: false; readonly why: string };

/** The part that both ends have in the same form. */
export interface ExecutorWork {
  /** Built-in processors, scripts and functions. The agent itself asks servers. */
  readonly runStep: RunStep;
  readonly findPod: NonNullable<DriverContext['findPod']>;
  readonly earlierActionsFor: NonNullable<DriverContext['earlierActionsFor']>;
  /** Settles the actions that a crash interrupted. Nobody repairs the node then. */
  readonly settleJournal: () => Promise<SettledJournal>;
  /** On the node: they survive the pod of the agent. */
  readonly largeResults: Omit<LargeResults, 'read'>;
}

/** A file of a step could not be read from the node. The text says why. */
export class ResultReadError extends Error {
  override readonly name = 'ResultReadError';
}

export interface ReadFile {
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Part of a file, and how long all of it is. */
export interface FileChunk {
  readonly bytes: number;
  readonly chunk: Uint8Array;
}
