import * as z from 'zod';
import { condition, flag, objectName } from './fields.ts';
import { NODES_MAX } from './limits.ts';
import { observedGeneration } from './operation.ts';
import { ruled } from './rules.ts';

// The check of the graph reports negative numbers, together with those that are too large.
const nodeNumber = z.int().min(-2_147_483_648).max(2_147_483_647);
const nodeMetrics = z.array(nodeNumber).max(NODES_MAX);

export const graphNode = z.object({
  id: nodeNumber
    .describe('Position in the list; the value in a manifest is ignored.')
    .exactOptional(),
  to: nodeMetrics.describe('Positions of the next nodes, tried in this order.').exactOptional(),
  operation: objectName('Operation of this step; the start node has none.').exactOptional(),
  dependences: nodeMetrics
    .describe('No effect. Accepted because manifests of KubeDiag v0.2 and v0.3 have it.')
    .exactOptional(),
});

export type GraphNode = z.output<typeof graphNode>;

/**
 * What the API server can check in a graph. Module `graph` checks more, with better messages, so
 * these rules are not needed here.
 */
const SEEN_BY_THE_SERVER = [
  [
    "(!has(self[0].operation) || self[0].operation == '') && (!has(self[0].dependences) || size(self[0].dependences) == 0)",
    'the first node is the start and runs nothing: remove its operation and dependences',
  ],
  [
    "self.all(n, self[0] == n || (has(n.operation) && n.operation != ''))",
    'a node has no operation: name one in every node but the first',
  ],
  [
    'self.all(n, !has(n.to) || n.to.all(t, t > 0 && t < size(self)))',
    'an edge leads to a node that does not exist, or back to the first one: use positions from 1 on',
  ],
  [
    // Only for nodes with an id: a search in the list would exceed the cost limit of CEL.
    'self.all(n, !has(n.id) || !has(n.to) || !(n.id in n.to) || n.id < 0 || n.id >= size(self) || self[n.id] != n)',
    'a node leads to itself: remove its own position from "to"',
  ],
].map(([rule, message]) => ({ rule, message }));

const adjacencyList = ruled(
  z.array(graphNode).min(2).max(NODES_MAX),
  'The graph: a list of nodes. The first node is the start.',
  [],
).meta({ 'x-kubernetes-validations': SEEN_BY_THE_SERVER });

export const operationSetSpec = z.object({ adjacencyList });

export const graphPaths = z.array(z.array(graphNode));

export const operationSetStatus = z.object({
  ready: flag.describe('Whether the paths belong to the current spec.').exactOptional(),
  paths: graphPaths
    .describe('Every path from the start to an end, in the order in which they run.')
    .exactOptional(),
  observedGeneration: observedGeneration.exactOptional(),
  conditions: z.array(condition).exactOptional(),
});

export type OperationSetSpec = z.output<typeof operationSetSpec>;
