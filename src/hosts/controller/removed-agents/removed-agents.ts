import { textAt } from '../../../lib/std/json.ts';
import { AGENT_ACCOUNT, NODE_CONDITION } from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import { listPages } from '../../../pipeline/kube/list-pages.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { ControllerContext } from '../controller-context.ts';
import { type MarkedNode, perhapsRemoved, removedFrom } from './decide-removed.ts';
import { INSTALLED_CHECK_MS, NODES_AT_ONCE, PODS_LISTED_MS, REMOVED_MS } from './limits.ts';

export interface RemovedAgentsOptions {
  readonly removedMs?: number;
  readonly checkMs?: number;
}

/** Removes what agents have said about nodes where there is no agent any more: nobody would correct it. */
export async function removedAgents(
  context: ControllerContext,
  { removedMs = REMOVED_MS, checkMs = INSTALLED_CHECK_MS }: RemovedAgentsOptions = {},
): Promise<void> {
  const { stop, onMessage } = context;
  const startMs = performance.now();
  let listMs = Number.NEGATIVE_INFINITY;
  while (!stop.aborted) {
    const nodes = markedNodes(context, startMs);
    const listAgain = performance.now() - listMs >= Math.min(PODS_LISTED_MS, removedMs);
    if (nodes.length > 0) {
      const answer = await answerOf(removeFrom(context, nodes, { removedMs, listAgain }));
      if (!answer.ok) onMessage(`removed agents: ${answer.error.message}`);
      else if (answer.value) listMs = performance.now();
    }
    await sleepUntilStopped(checkMs, stop);
  }
}

/** Nodes with the condition of an agent. What happened before this process led is not known to it. */
function markedNodes(
  { nodes, leases, namespace }: ControllerContext,
  startMs: number,
): readonly MarkedNode[] {
  const nowMs = performance.now();
  return [...nodes.entries()].flatMap(([name, { hasFaultCondition }]) => {
    if (!hasFaultCondition) return [];
    const seenAtMs = leases.get(`${namespace}/${name}`)?.seenAtMs ?? startMs;
    return [{ name, silentMs: nowMs - seenAtMs }];
  });
}

/** Returns whether it has listed the pods of agents that are installed. */
async function removeFrom(
  context: ControllerContext,
  nodes: readonly MarkedNode[],
  { removedMs, listAgain }: { readonly removedMs: number; readonly listAgain: boolean },
): Promise<boolean> {
  const { client, namespace } = context;
  const place = `/apis/apps/v1/namespaces/${namespace}/daemonsets/${AGENT_ACCOUNT}`;
  const daemonSet = await objectAt(client, place);
  const isInstalled =
    daemonSet !== undefined && textAt(daemonSet, 'metadata', 'deletionTimestamp') === undefined;
  const candidates = perhapsRemoved(nodes, isInstalled, removedMs);
  if (candidates.length === 0 || (isInstalled && !listAgain)) return false;
  const removed = removedFrom(candidates, await nodesWithPods(context));
  for (let from = 0; from < removed.length; from += NODES_AT_ONCE) {
    const some = removed.slice(from, from + NODES_AT_ONCE);
    await Promise.all(some.map((name) => clear(context, name)));
  }
  return isInstalled;
}

async function nodesWithPods({
  client,
  namespace,
}: ControllerContext): Promise<ReadonlySet<string>> {
  const query = { labelSelector: `app.kubernetes.io/name=${AGENT_ACCOUNT}` };
  const { items } = await listPages(client, `/api/v1/namespaces/${namespace}/pods`, query);
  const names = new Set<string>();
  for await (const pod of items) {
    const name = textAt(pod, 'spec', 'nodeName');
    if (name !== undefined) names.add(name);
  }
  return names;
}

/** The report first: while the condition is there, this is tried again. */
async function clear({ client, onMessage }: ControllerContext, name: string): Promise<void> {
  const node = encodeURIComponent(name);
  const report = await answerOf(
    client.request({ method: 'DELETE', path: `/apis/${API_VERSION}/nodereports/${node}` }),
  );
  if (!report.ok && report.error.reason !== 'NotFound') throw report.error;
  const condition = await answerOf(
    client.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${node}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: [{ $patch: 'delete', type: NODE_CONDITION }] } },
    }),
  );
  if (!condition.ok && condition.error.reason !== 'NotFound') throw condition.error;
  onMessage(`node ${name}: has no agent any more, its condition ${NODE_CONDITION} is removed`);
}
