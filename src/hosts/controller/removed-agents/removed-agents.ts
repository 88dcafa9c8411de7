import { textAt } from '../../../lib/std/json.ts';
import { AGENT_ACCOUNT, NODE_CONDITION } from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import { listPages } from '../../../pipeline/kube/list-pages.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { ControllerContext } from '../controller-context.ts';
import { type AgentNode, perhapsRemoved, removedFrom } from './decide-removed.ts';
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
  const part = new RemovedAgents(context, removedMs);
  while (!stop.aborted) {
    const answer = await answerOf(part.check());
    if (!answer.ok) onMessage(`removed agents: ${answer.error.message}`);
    await sleepUntilStopped(checkMs, stop);
  }
}

class RemovedAgents {
  readonly #context: ControllerContext;
  readonly #removedMs: number;
  readonly #startMs = performance.now();
  readonly #removals = new Map<string, 'begun' | 'done'>();
  #listedMs = Number.NEGATIVE_INFINITY;

  constructor(context: ControllerContext, removedMs: number) {
    this.#context = context;
    this.#removedMs = removedMs;
  }

  async check(): Promise<void> {
    const isInstalled = await this.#isInstalled();
    // Agents that are installed again write again.
    if (isInstalled) this.#forgetDone();
    const candidates = perhapsRemoved(this.#nodes(), isInstalled, this.#removedMs);
    if (candidates.length === 0) return;
    const listMs = Math.min(PODS_LISTED_MS, this.#removedMs);
    if (isInstalled && performance.now() - this.#listedMs < listMs) return;
    const removed = removedFrom(candidates, await nodesWithPods(this.#context));
    for (let from = 0; from < removed.length; from += NODES_AT_ONCE) {
      const some = removed.slice(from, from + NODES_AT_ONCE);
      await Promise.all(some.map((name) => this.#clear(name)));
    }
    if (isInstalled) this.#listedMs = performance.now();
  }

  async #isInstalled(): Promise<boolean> {
    const { client, namespace } = this.#context;
    const place = `/apis/apps/v1/namespaces/${namespace}/daemonsets/${AGENT_ACCOUNT}`;
    const daemonSet = await objectAt(client, place);
    return (
      daemonSet !== undefined && textAt(daemonSet, 'metadata', 'deletionTimestamp') === undefined
    );
  }

  #forgetDone(): void {
    for (const [name, removal] of this.#removals) {
      if (removal === 'done') this.#removals.delete(name);
    }
  }

  /** What happened before this process led is not known to it. */
  #nodes(): readonly AgentNode[] {
    const { nodes, leases, namespace } = this.#context;
    const nowMs = performance.now();
    return Array.from(nodes.entries(), ([name, { hasFaultCondition }]) => ({
      name,
      hasCondition: hasFaultCondition,
      silentMs: nowMs - (leases.get(`${namespace}/${name}`)?.seenAtMs ?? this.#startMs),
      removal: this.#removals.get(name),
    }));
  }

  /** The report last: somebody who removes KubeDiag waits until there is none. */
  async #clear(name: string): Promise<void> {
    const { client, onMessage } = this.#context;
    const node = encodeURIComponent(name);
    this.#removals.set(name, 'begun');
    const condition = await answerOf(
      client.request({
        method: 'PATCH',
        path: `/api/v1/nodes/${node}/status`,
        contentType: 'application/strategic-merge-patch+json',
        body: { status: { conditions: [{ $patch: 'delete', type: NODE_CONDITION }] } },
      }),
    );
    if (!condition.ok && condition.error.reason !== 'NotFound') throw condition.error;
    const report = await answerOf(
      client.request({ method: 'DELETE', path: `/apis/${API_VERSION}/nodereports/${node}` }),
    );
    if (!report.ok && report.error.reason !== 'NotFound') throw report.error;
    this.#removals.set(name, 'done');
    onMessage(
      `node ${name}: removed condition ${NODE_CONDITION} and the NodeReport, because no agent runs there`,
    );
  }
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
