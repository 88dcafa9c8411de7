import { textAt } from '../../../lib/std/json.ts';
import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import type { LabelSelector, TargetSelector } from '../../../pipeline/api/fields.ts';
import {
  matchesLabels,
  selectorProblem,
  selectorText,
} from '../../../pipeline/api/label-selector.ts';
import type { PodReference } from '../../../pipeline/api/named-pod.ts';
import { listPages } from '../../../pipeline/kube/list-pages.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { Selected } from './decide-parent.ts';
import { NODE_NAMES_CHARACTERS_MAX, NODES_SELECTED_MAX, REQUESTS_AT_ONCE } from './limits.ts';
import type { FailedNode } from './parent-status.ts';

type Cluster = Pick<ControllerContext, 'client' | 'nodes'>;

/** A node by its name, or why there is none. */
type Found = { readonly nodeName: string } | { readonly missing: FailedNode };

/** The nodes that a selector selects now. Pods are read for it and not remembered. */
export async function selectNodes(selector: TargetSelector, cluster: Cluster): Promise<Selected> {
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = selector;
  const labels = nodeSelector ?? (nodeNames.length === 0 ? podSelector : undefined);
  const problem = labels && selectorProblem(labels);
  if (problem !== undefined) {
    const field = nodeSelector ? 'nodeSelector' : 'podSelector';
    return { nodeNames: [], missing: [], problem: `spec.targetSelector.${field}: ${problem}` };
  }
  if (nodeSelector) return selectedOf(labelled(nodeSelector, cluster), cluster);
  if (nodeNames.length > 0) return selectedOf(nodeNames.map(asNode), cluster);
  if (podSelector) return selectedOf(await nodesOfPods(podSelector, cluster), cluster);
  if (podReferences.length > 0) {
    const read = (pod: PodReference) => nodeOfPod(pod, cluster);
    return selectedOf(await mapAtOnce(podReferences, REQUESTS_AT_ONCE, read), cluster);
  }
  const empty = 'it has no selector; an empty nodeSelector ({}) selects all nodes';
  return { nodeNames: [], missing: [], problem: empty };
}

/** Each node once, in the order of the names. */
function selectedOf(found: readonly Found[], { nodes }: Cluster): Selected {
  const names = new Set(found.flatMap((each) => ('nodeName' in each ? each.nodeName : [])));
  const sorted = [...names].toSorted();
  const nodeNames = sorted.filter((name) => nodes.get(name) !== undefined);
  const absent = sorted.filter((name) => nodes.get(name) === undefined);
  const missing = [
    ...absent.map((name) => ({ name, message: `Node ${name} does not exist` })),
    ...found.flatMap((each) => ('missing' in each ? each.missing : [])),
  ];
  const isTooMany =
    nodeNames.length > NODES_SELECTED_MAX || nodeNames.join('').length > NODE_NAMES_CHARACTERS_MAX;
  if (!isTooMany) return { nodeNames, missing };
  const most = `at most ${NODES_SELECTED_MAX} are allowed, with ${NODE_NAMES_CHARACTERS_MAX} characters in all names together`;
  const problem = `${nodeNames.length} nodes; ${most}: use narrower selectors`;
  return { nodeNames: [], missing: [], problem, isTooMany };
}

function asNode(nodeName: string): Found {
  return { nodeName };
}

function labelled(selector: LabelSelector, { nodes }: Cluster): readonly Found[] {
  return [...nodes.entries()]
    .filter(([, { labels }]) => matchesLabels(selector, labels))
    .map(([nodeName]) => ({ nodeName }));
}

/** A pod that has no node yet selects none. */
async function nodesOfPods(
  selector: LabelSelector,
  { client }: Cluster,
): Promise<readonly Found[]> {
  const labelSelector = selectorText(selector);
  const { items } = await listPages(client, '/api/v1/pods', { labelSelector });
  const names = new Set<string>();
  for await (const pod of items) names.add(textAt(pod, 'spec', 'nodeName') ?? '');
  names.delete('');
  return [...names].map(asNode);
}

async function nodeOfPod({ namespace, name }: PodReference, { client }: Cluster): Promise<Found> {
  const pod = await objectAt(client, `/api/v1/namespaces/${namespace}/pods/${name}`);
  const nodeName = textAt(pod, 'spec', 'nodeName');
  if (nodeName) return { nodeName };
  const why = pod === undefined ? 'does not exist' : 'has no node yet';
  const pair = `${namespace}/${name}`;
  return { missing: { name: pair, message: `Pod ${pair} ${why}` } };
}
