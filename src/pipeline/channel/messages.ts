import type { GraphNode } from '../api/operation-set.ts';
import type { Processor } from '../api/processor-of.ts';
import type { NodeCheck } from './node-check.ts';
import type { ExecutorRequest } from './request-schema.ts';

/** Both ends have the same; an executor of another image is not used. */
export const PROTOCOL = 3;

/** The first message of an executor. */
export interface Hello {
  readonly type: 'hello';
  readonly protocol: number;
  /** The version of its product. */
  readonly version: string;
  readonly builtIns: {
    readonly operations: readonly (readonly [string, Processor])[];
    readonly operationSets: readonly (readonly [string, readonly GraphNode[]])[];
  };
  /** The paths of the built-in processors that repair the node, each with the fault that it repairs. */
  readonly repairs: readonly (readonly [string, string])[];
}

export type FromExecutor =
  | Hello
  /** What a request came to. */
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  /** The executor does not do what was requested. */
  | { readonly type: 'refused'; readonly id: number; readonly why: string }
  /** Too much is requested at once: ask again. */
  | { readonly type: 'busy'; readonly id: number }
  | { readonly type: 'pong' }
  /** The last standing check, when there is a new one and after each hello. */
  | { readonly type: 'node-check'; readonly check: NodeCheck };

export type FromAgent =
  | { readonly type: 'request'; readonly id: number; readonly request: ExecutorRequest }
  /** The request ends as soon as it can, and is answered. */
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'ping' };
