import type { GraphNode } from '../api/operation-set.ts';
import type { Processor } from '../api/processor-of.ts';

/** The Operations and OperationSets that exist without a manifest, by name. */
export interface BuiltIns {
  readonly operations: ReadonlyMap<string, Processor>;
  readonly operationSets: ReadonlyMap<string, readonly GraphNode[]>;
}
