import type { OperationSpec } from '../api/operation.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { type Processor, processorOf } from '../api/processor-of.ts';
import { adjacencyHash } from '../graph/adjacency-hash.ts';
import { checkGraph } from '../graph/check-graph.ts';
import type { SeenSet } from '../graph/decide-next.ts';
import { pathsOf } from '../graph/paths.ts';
import type { BuiltIns } from '../steps/built-ins.ts';
import { AGENT_PORT } from '../steps/limits.ts';
import type { Store } from '../store/store.ts';
import { GRAPHS_CACHED_MAX } from './limits.ts';

/** The OperationSets and Operations of Diagnoses, by name. */
export interface OperationLookup {
  /** With the hash of the graph that a Diagnosis began with: that graph is not read again. */
  readonly set: (name: string, begunWith?: string) => Promise<SeenSet>;
  readonly operation: (name: string) => Promise<Processor | undefined>;
  /** This OperationSet, or any, may have changed. */
  readonly forget?: (name?: string) => void;
}

/** Whether a server is this agent, which would reject the request: a step has no token. */
export type IsHere = (address: string, port: number) => boolean;

interface LookupOptions {
  readonly isHere?: IsHere;
  /** The caller calls `forget` for each change, so a graph need not be read for every step. */
  readonly isWatched?: boolean;
}

/** Stored objects first, then built-in ones. */
export function storeLookup(
  store: Pick<Store, 'get'>,
  builtIns: () => Promise<BuiltIns>,
  { isHere = () => false, isWatched = false }: LookupOptions = {},
): OperationLookup {
  const graphs = new Map<string, SeenSet & { readonly version: string }>();
  return {
    set: async (name, begunWith) => {
      const last = graphs.get(name);
      if (isWatched && last?.state === 'ready' && last.hash === begunWith) return last;
      const stored = await store.get({ kind: 'OperationSet', name });
      const list =
        (stored?.spec.adjacencyList as readonly GraphNode[] | undefined) ??
        (await builtIns()).operationSets.get(name);
      if (!list) return { state: 'missing' };
      const { uid = 'own', generation = 0 } = stored?.metadata ?? {};
      const version = `${uid} ${generation}`;
      const seen = last?.version === version ? last : { ...seenSet(list), version };
      graphs.delete(name);
      graphs.set(name, seen);
      const [oldest] = graphs.keys();
      if (graphs.size > GRAPHS_CACHED_MAX && oldest) graphs.delete(oldest);
      return seen;
    },
    forget: (name) => {
      if (name === undefined) graphs.clear();
      else graphs.delete(name);
    },
    operation: async (name) => {
      const stored = await store.get({ kind: 'Operation', name });
      if (!stored) return (await builtIns()).operations.get(name);
      return withoutOwnAddress(processorOf(stored.spec as OperationSpec), isHere);
    },
  };
}

/** A processor without an address is built in, and is called directly. */
function withoutOwnAddress(processor: Processor, isHere: IsHere): Processor {
  if (processor.way !== 'http' || processor.scheme !== 'http' || !processor.address)
    return processor;
  const { address, port = AGENT_PORT, ...own } = processor;
  return own.path.startsWith('/processor/') && isHere(address, port) ? own : processor;
}

/** From the spec; the status may be outdated. */
function seenSet(list: readonly GraphNode[]): SeenSet {
  const problem = checkGraph(list).find(({ severity }) => severity === 'problem');
  if (problem) return { state: 'not-ready', why: `${problem.what}: ${problem.fix}` };
  return { state: 'ready', hash: adjacencyHash(list), paths: pathsOf(list) };
}
