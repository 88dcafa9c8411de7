import { API_VERSION } from '../api/kind-names.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { ownOperationSets, processors } from './catalogue.ts';
import { OWN_TIMEOUT_SECONDS } from './limits.ts';

interface Manifest<K extends string, S> {
  readonly apiVersion: string;
  readonly kind: K;
  readonly metadata: { readonly name: string };
  readonly spec: S;
}

export type BuiltInManifest =
  | Manifest<'Operation', Readonly<Record<string, unknown>>>
  | Manifest<'OperationSet', { readonly adjacencyList: readonly GraphNode[] }>;

/** All built-in Operations and OperationSets as objects of a cluster. */
export const builtInManifests: readonly BuiltInManifest[] = [
  ...processors.map(({ operation: name, path }) => ({
    apiVersion: API_VERSION,
    kind: 'Operation' as const,
    metadata: { name },
    // Without an address: the agent that runs the step.
    spec: {
      processor: {
        httpServer: { path, scheme: 'http' },
        timeoutSeconds: OWN_TIMEOUT_SECONDS,
      },
    },
  })),
  ...ownOperationSets.map(({ name, adjacencyList }) => ({
    apiVersion: API_VERSION,
    kind: 'OperationSet' as const,
    metadata: { name },
    spec: { adjacencyList },
  })),
];
