import type { OperationSpec } from '../api/operation.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { type Processor, processorOf } from '../api/processor-of.ts';
import { adjacencyHash } from '../graph/adjacency-hash.ts';
import { checkGraph } from '../graph/check-graph.ts';
import type { SeenSet } from '../graph/decide-next.ts';
import { pathsOf } from '../graph/paths.ts';
import type { BuiltIns } from '../steps/built-ins.ts';
import { AGENT_PORT } from '../steps/limits.ts';
import type { Store, StoredObject } from '../store/store.ts';
import { GRAPHS_CACHED_MAX } from './limits.ts';

export type SeenOperation =
  | { readonly state: 'missing'; readonly why: string }
  | { readonly state: 'ready'; readonly processor: Processor };

/** The built-in ones, or why nobody can say now which there are. */
export type SeenBuiltIns = BuiltIns | { readonly unknown: string };

/** The OperationSets and Operations of Diagnoses, by name. */
export interface OperationLookup {
  /** With the hash of the graph that a Diagnosis began with: that graph is not read again. */
  readonly set: (name: string, begunWith?: string) => Promise<SeenSet>;
  readonly operation: (name: string) => Promise<SeenOperation>;
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
  builtIns: () => Promise<SeenBuiltIns>,
  { isHere = () => false, isWatched = false }: LookupOptions = {},
): OperationLookup {
  const graphs = new Map<string, SeenSet & { readonly version: string }>();
  return {
    set: async (name, begunWith) => {
      const last = graphs.get(name);
      if (isWatched && last?.state === 'ready' && last.hash === begunWith) return last;
      const stored = await store.get({ kind: 'OperationSet', name });
      const own = stored ? { operationSets: new Map([[name, listOf(stored)]]) } : await builtIns();
      if ('unknown' in own) return { state: 'not-ready', why: whyUnknown(own.unknown) };
      const list = own.operationSets.get(name);
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
      if (stored) {
        const processor = processorOf(stored.spec as OperationSpec);
        return seenOperation(name, withoutOwnAddress(processor, isHere));
      }
      const builtIn = await builtIns();
      if ('unknown' in builtIn) {
        return { state: 'missing', why: `Operation ${name}: ${whyUnknown(builtIn.unknown)}` };
      }
      return seenOperation(name, builtIn.operations.get(name));
    },
  };
}

export function seenOperation(name: string, processor: Processor | undefined): SeenOperation {
  if (processor) return { state: 'ready', processor };
  return { state: 'missing', why: `Operation ${name} not found` };
}

function listOf({ spec }: StoredObject): readonly GraphNode[] {
  return spec.adjacencyList as readonly GraphNode[];
}

function whyUnknown(why: string): string {
  return `no object has this name, and it is unknown whether a built-in one has: ${why}`;
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
