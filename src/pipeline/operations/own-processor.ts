import type { OperationResult, StepInput } from './operation-result.ts';
import type { ProcessorHost } from './processor-host.ts';

/** A built-in processor. */
export interface OwnProcessor {
  /** The path of upstream KubeDiag. */
  readonly path: string;
  /** Name of the built-in Operation, which needs no manifest. */
  readonly operation: string;
  /** What it does, as a clause. */
  readonly does: string;
  /** What else a user has to know, for the reference page. */
  readonly details?: string;
  /** Required input keys; `writes` are the keys of its result. */
  readonly reads: readonly string[];
  /** Alternative to `reads`. */
  readonly readsElse?: readonly string[];
  /** Optional input keys. */
  readonly mayRead?: readonly string[];
  /** Keys of upstream KubeDiag without effect here, and why; the result has a note for each. */
  readonly unused?: Readonly<Record<string, string>>;
  readonly writes: readonly string[];
  /** Whether it may change the node. */
  readonly repairs: boolean;
  readonly run: (input: StepInput, host: ProcessorHost) => Promise<OperationResult>;
}
