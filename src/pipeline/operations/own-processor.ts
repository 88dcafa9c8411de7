import type { OperationResult, StepInput } from './operation-result.ts';
import type { ProcessorHost } from './processor-host.ts';

/** A processor of our own. */
export interface OwnProcessor {
  /** As every KubeDiag knows it. */
  readonly path: string;
  /** Under which name an Operation of it is there when no manifest defines one. */
  readonly operation: string;
  /** What it does, as a clause. */
  readonly does: string;
  /** What a person who uses it has to know beside that, for its page. */
  readonly details?: string;
  /** Keys that it must be told, and keys that it answers with. */
  readonly reads: readonly string[];
  /** Keys that do as well, in place of those. */
  readonly readsElse?: readonly string[];
  /** Keys that it takes too, where somebody gives them. */
  readonly mayRead?: readonly string[];
  /** Keys of every KubeDiag that mean nothing here, and why: whoever gives one is told. */
  readonly unused?: Readonly<Record<string, string>>;
  readonly writes: readonly string[];
  /** Whether it may change the node. */
  readonly repairs: boolean;
  readonly run: (input: StepInput, host: ProcessorHost) => Promise<OperationResult>;
}
