import * as z from 'zod';
import { condition, flag, objectName } from './fields.ts';
import { NODES_MAX } from './limits.ts';
import { observedGeneration } from './operation.ts';
import { ruled } from './rules.ts';

// Negative ones are for the graph's check to name, together with those that are too large.
const nodeNumber = z.int().min(-2_147_483_648).max(2_147_483_647);
const nodeMetrics = z.array(nodeNumber).max(NODES_MAX);

export const graphNode = z.object({
  id: nodeNumber
    .describe('The position in the list; what is written here is not read.')
    .exactOptional(),
  to: nodeMetrics
    .describe('Positions of the nodes that may come next, the first tried first.')
    .exactOptional(),
  operation: objectName('The Operation of this step; the start node has none.').exactOptional(),
  dependences: nodeMetrics
    .describe('No effect. Accepted because manifests of KubeDiag v0.2 and v0.3 have it.')
    .exactOptional(),
});

export type GraphNode = z.output<typeof graphNode>;

/**
 * What the API server can see of a graph. Our own check (room `graph`) sees more and says it better,
 * so it has no rules here.
 */
const SEEN_BY_THE_SERVER = [
  [
    "(!has(self[0].operation) || self[0].operation == '') && (!has(self[0].dependences) || size(self[0].dependences) == 0)",
    'the first node is where the graph starts and runs nothing: take operation and dependences out of it',
  ],
  [
    "self.all(n, self[0] == n || (has(n.operation) && n.operation != ''))",
    'a node has no operation: name one in every node but the first',
  ],
  [
    'self.all(n, !has(n.to) || n.to.all(t, t > 0 && t < size(self)))',
    'an edge leads to a node that is not there, or back to the first one: use positions from 1 on',
  ],
  [
    // Only of nodes that say their position: to look for each in the list costs more than is allowed.
    'self.all(n, !has(n.id) || !has(n.to) || !(n.id in n.to) || n.id < 0 || n.id >= size(self) || self[n.id] != n)',
    'a node leads to itself: take its own position out of its "to"',
  ],
].map(([rule, message]) => ({ rule, message }));

const adjacencyList = ruled(
  z.array(graphNode).min(2).max(NODES_MAX),
  'The graph: nodes by their position, the first is the start.',
  [],
).meta({ 'x-kubernetes-validations': SEEN_BY_THE_SERVER });

export const operationSetSpec = z.object({ adjacencyList });

export const graphPaths = z.array(z.array(graphNode));

export const operationSetStatus = z.object({
  ready: flag.describe('Whether paths are those of the present spec.').exactOptional(),
  paths: graphPaths
    .describe('Every way from the start to an end, in the order in which they are tried.')
    .exactOptional(),
  observedGeneration: observedGeneration.exactOptional(),
  conditions: z.array(condition).exactOptional(),
});

export type OperationSetSpec = z.output<typeof operationSetSpec>;
