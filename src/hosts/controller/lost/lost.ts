import { isDeepStrictEqual } from 'node:util';
import type { DiagnosisSpec } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { ARRIVAL_MS } from '../../../pipeline/graph/limits.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import type { ControllerContext } from '../controller-context.ts';
import { type DiagnosisDigest, type LeaseDigest, leaseDigest } from '../digests.ts';
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
  /** Leases that were read when the watch showed an older version or none, by the names of their nodes. */
  readonly #read = new Map<string, LeaseDigest>();

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
    for (const name of this.#read.keys()) if (!agents.has(name)) this.#read.delete(name);
    return keys;
  }

  async work(key: string): Promise<undefined> {
    const { diagnoses, now } = this.#context;
    const digest = diagnoses.get(key);
    if (digest?.nodeName === undefined) return;
    const { nodeName } = digest;
    const agent = this.#agentOf(nodeName);
    // Its Lease may have been read for another Diagnosis meanwhile.
    if (!isConcerned(digest, agent, now())) return;
    const object = await unfinished(this.#context, key);
    const spec = object?.spec as DiagnosisSpec | undefined;
    if (!object || spec?.nodeName !== nodeName) return;
    // What we remember may be old: its watch may be cut.
    if (!(await this.#isConfirmed(nodeName, agent))) return;
    const before = statusOf(object);
    const status = decideLost(spec, before, agent, now());
    if (!isDeepStrictEqual(status, before)) await saveStatus(this.#context, object, status);
  }

  #agentOf(nodeName: string): AgentState {
    const { nodes, arrivalMs, lostEndMs } = this.#context;
    const lease = this.#leaseOf(nodeName);
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
    const { client, namespace } = this.#context;
    if (agent.kind === 'no-node') {
      const path = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
      return (await objectAt(client, path)) === undefined;
    }
    if (agent.kind !== 'lost') return true;
    // The watch may show a renewal while the Lease is read.
    const seen = this.#leaseOf(nodeName);
    const name = encodeURIComponent(nodeName);
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
    const object = await objectAt(client, path);
    const lease = object === undefined ? undefined : leaseDigest(object, seen);
    if (lease === undefined || lease === seen) return true;
    this.#read.set(nodeName, lease);
    return false;
  }

  #leaseOf(nodeName: string): LeaseDigest | undefined {
    const { leases, namespace } = this.#context;
    const [watched, read] = [leases.get(`${namespace}/${nodeName}`), this.#read.get(nodeName)];
    return read && read.seenAtMs > (watched?.seenAtMs ?? 0) ? read : watched;
  }
}

function isWatched({ phase, isDeleted }: DiagnosisDigest): boolean {
  return !isDeleted && !hasEnded(phase);
}
