import * as z from 'zod';
import { conditions, flag, objectName, text } from './fields.ts';
import { NODES_MAX } from './limits.ts';
import { observedGeneration } from './operation.ts';
import { ruled } from './rules.ts';

// The check of the graph reports negative numbers, together with those that are too large.
const nodeNumber = z.int().min(-2_147_483_648).max(2_147_483_647);
const nodeMetrics = z.array(nodeNumber).max(NODES_MAX);

const graphNode = z.object({
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

/** A CEL list of the multiples of a number: [0, 10, 20]. */
const multiples = (of: number, count: number) =>
  `[${Array.from({ length: count }, (_, at) => at * of).join(', ')}]`;

/** In CEL, for every position of the list, written as h + t + u: `all` gives an element only. */
const everyPosition = (test: string) =>
  `${multiples(100, NODES_MAX / 100)}.all(h, ${multiples(10, 10)}.all(t, ${multiples(1, 10)}.all(u, ` +
  `h + t + u >= size(self) || ${test})))`;

const AT = 'self[h + t + u]';

/**
 * What the API server can check in a graph. Module `graph` checks more, with better messages, so
 * these rules are not needed here. A search for cycles and unreachable nodes would exceed the
 * cost limit of a CRD: a policy in deploy/kubediag.yaml finds them.
 */
const SEEN_BY_THE_SERVER = [
  [
    "size(self) == 0 || (!has(self[0].operation) || self[0].operation == '') && (!has(self[0].dependences) || size(self[0].dependences) == 0)",
    'the first node is the start and runs nothing: remove its operation and dependences',
  ],
  [
    everyPosition(`h + t + u == 0 || (has(${AT}.operation) && ${AT}.operation != '')`),
    'a node has no operation: name one in every node but the first',
  ],
  [
    'self.all(n, !has(n.to) || n.to.all(t, t > 0 && t < size(self)))',
    'an edge leads to a node that does not exist, or back to the first one: use positions from 1 on',
  ],
  [
    everyPosition(`!has(${AT}.to) || !(h + t + u in ${AT}.to)`),
    'a node leads to itself: remove its own position from "to"',
  ],
  [
    'size(self) == 0 || (has(self[0].to) && size(self[0].to) > 0)',
    'the first node leads nowhere, so that no step runs: add "to: [1]" to it',
  ],
].map(([rule, message]) => ({ rule, message }));

const adjacencyList = ruled(
  z.array(graphNode).min(2).max(NODES_MAX),
  'The graph: a list of nodes. The first node is the start.',
  [],
).meta({ 'x-kubernetes-validations': SEEN_BY_THE_SERVER });

export const operationSetSpec = z
  .object({ adjacencyList })
  .describe('The graph. Its steps run along one path at a time, until a path succeeds.');

/** In a status nothing is checked again: the cost limit of rules counts every node of every path. */
export const path = z.array(
  graphNode.extend({ operation: text.describe('Operation of this step.').exactOptional() }),
);
export const graphPaths = z.array(path);

export const operationSetStatus = z
  .object({
    ready: flag.describe('Whether the paths belong to the current spec.').exactOptional(),
    paths: graphPaths
      .describe('Every path from the start to an end, in the order in which they run.')
      .exactOptional(),
    problems: z
      .array(
        z.object({
          field: text.describe('Where the problem is, for example spec.adjacencyList[2].to[0].'),
          what: text.describe('What is wrong.'),
          fix: text.describe('What to do about it.'),
        }),
      )
      .describe('Why the graph cannot run.')
      .exactOptional(),
    observedGeneration: observedGeneration.exactOptional(),
    conditions: conditions.exactOptional(),
  })
  .describe('Whether the graph can run, and its paths.');

export type OperationSetSpec = z.output<typeof operationSetSpec>;
export type OperationSetStatus = z.output<typeof operationSetStatus>;
