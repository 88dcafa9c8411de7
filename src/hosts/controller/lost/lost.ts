import { isDeepStrictEqual } from 'node:util';
import { textAt } from '../../../lib/std/json.ts';
import type { DiagnosisSpec } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { ARRIVAL_MS } from '../../../pipeline/graph/limits.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { DiagnosisDigest } from '../digests.ts';
import { LOST_END_MS } from '../limits.ts';
import { openQueue } from '../open-queue.ts';
import { saveStatus, statusOf, unfinished } from '../save-status.ts';
import { sweep } from '../sweep.ts';
import { type AgentState, agentStateOf, decideLost, isConcerned } from './decide-lost.ts';
import { MissingSince } from './missing-since.ts';

/** Marks and ends Diagnoses whose node or agent is lost. After a change of leader all times begin again. */
export async function lost(context: ControllerContext): Promise<void> {
  const watch = new LostWatch(context);
  const queue = openQueue(context, 'lost', (key) => watch.work(key));
  await sweep(context.stop, () => {
    for (const key of watch.concerned()) queue.add(key);
  });
}

class LostWatch {
  readonly #context: ControllerContext;
  readonly #nodesMissing = new MissingSince();
  readonly #leasesMissing = new MissingSince();

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** The keys of Diagnoses whose status may have to change. */
  concerned(): readonly string[] {
    const { diagnoses, now } = this.#context;
    const agents = new Map<string, AgentState>();
    const keys: string[] = [];
    for (const [key, digest] of diagnoses.entries()) {
      const { nodeName } = digest;
      if (nodeName === undefined || !isWatched(digest)) continue;
      const agent = agents.get(nodeName) ?? this.#agentOf(nodeName);
      agents.set(nodeName, agent);
      if (isConcerned(digest, agent, now())) keys.push(key);
    }
    this.#nodesMissing.retain(agents);
    this.#leasesMissing.retain(agents);
    return keys;
  }

  async work(key: string): Promise<undefined> {
    const object = await unfinished(this.#context, key);
    const spec = object?.spec as DiagnosisSpec | undefined;
    if (!object || !spec?.nodeName) return;
    const agent = this.#agentOf(spec.nodeName);
    // What we remember may be old: its watch may be cut.
    if (!(await this.#isConfirmed(spec.nodeName, agent))) return;
    const before = statusOf(object);
    const status = decideLost(spec, before, agent, this.#context.now());
    if (!isDeepStrictEqual(status, before)) await saveStatus(this.#context, object, status);
  }

  #agentOf(nodeName: string): AgentState {
    const { nodes, namespace, leases, arrivalMs, lostEndMs } = this.#context;
    const lease = leases.get(`${namespace}/${nodeName}`);
    const missingMs = this.#leasesMissing.since(nodeName, lease !== undefined);
    const nowMs = performance.now();
    const seen = {
      nodeMissingMs: this.#nodesMissing.since(nodeName, nodes.get(nodeName) !== undefined),
      lease: lease
        ? {
            durationMs: lease.durationSeconds * 1_000,
            unchangedMs: nowMs - lease.seenAtMs,
            isRenewed: lease.isRenewed,
          }
        : { missingMs: missingMs ?? 0 },
    };
    const times = { arrivalMs: arrivalMs ?? ARRIVAL_MS, lostEndMs: lostEndMs ?? LOST_END_MS };
    return agentStateOf(seen, times);
  }

  async #isConfirmed(nodeName: string, agent: AgentState): Promise<boolean> {
    const { client, namespace, leases } = this.#context;
    if (agent.kind === 'no-node') {
      const path = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
      return (await objectAt(client, path)) === undefined;
    }
    if (agent.kind !== 'lost') return true;
    // The watch may show a renewal while the Lease is read.
    const seen = leases.get(`${namespace}/${nodeName}`)?.resourceVersion;
    const name = encodeURIComponent(nodeName);
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
    return textAt(await objectAt(client, path), 'metadata', 'resourceVersion') === seen;
  }
}

function isWatched({ phase, isDeleted }: DiagnosisDigest): boolean {
  return !isDeleted && !hasEnded(phase);
}
