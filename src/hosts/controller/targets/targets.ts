import { isDeepStrictEqual } from 'node:util';
import { listAt, textAt } from '../../../lib/std/json.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { API_VERSION, KIND_NAMES } from '../../../pipeline/api/kind-names.ts';
import { statusWithoutNode } from '../../../pipeline/graph/decide-next.ts';
import { ARRIVAL_MS } from '../../../pipeline/graph/limits.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import type { StoredObject } from '../../../pipeline/store/store.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { DiagnosisDigest } from '../digests.ts';
import { POD_WAIT_MAX_MS, POD_WAIT_MIN_MS } from '../limits.ts';
import { openQueue } from '../open-queue.ts';
import { saveStatus, statusOf, unfinished } from '../save-status.ts';
import { decideTarget, type SeenPod, type SeenTarget } from './decide-target.ts';

/** Sets spec.nodeName of each Diagnosis that names a pod only, as soon as the pod has a node. */
export async function targets(context: ControllerContext): Promise<void> {
  const finder = new TargetFinder(context);
  const queue = openQueue(context, 'targets', (key) => finder.work(key));
  const see = (key: string, digest: DiagnosisDigest | undefined) => {
    if (digest && lacksNode(digest)) queue.add(key);
    else finder.forget(key);
  };
  context.diagnoses.onChange(see);
  for (const [key, digest] of context.diagnoses.entries()) see(key, digest);
}

/** A targetSelector beside the pod has no effect: the single target is more precise. */
function lacksNode(digest: DiagnosisDigest): boolean {
  const { nodeName, hasPodReference, isDeleted, phase } = digest;
  return hasPodReference && !nodeName && !isDeleted && !hasEnded(phase);
}

class TargetFinder {
  readonly #context: ControllerContext;
  /** Since when a pod is missing, by the uid of its Diagnosis. */
  readonly #missing = new Map<string, { readonly uid: string; readonly sinceMs: number }>();

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  forget(key: string): void {
    this.#missing.delete(key);
  }

  async work(key: string): Promise<number | undefined> {
    const { now, arrivalMs = ARRIVAL_MS } = this.#context;
    const object = await unfinished(this.#context, key);
    const spec = object?.spec as DiagnosisSpec | undefined;
    if (!object || !spec?.podReference || spec.nodeName) return undefined;
    const begun = statusWithoutNode({ spec, status: statusOf(object), now: now() });
    const seen = { spec, status: begun.status, now: now() };
    if (!begun.isReady) {
      await this.#save(object, begun.status);
      return hasEnded(begun.status.phase) ? undefined : waitMs(seen);
    }
    const pod = await this.#seenPod(key, object.metadata.uid, spec);
    const status = decideTarget(seen, pod, arrivalMs);
    // Without a condition to take back, the agent writes the first status.
    const isPlain = pod.state === 'scheduled' && status === begun.status;
    const saved = isPlain ? object : await this.#save(object, status);
    if (pod.state === 'scheduled') {
      await this.#assign(saved, pod.nodeName);
      return undefined;
    }
    return hasEnded(status.phase) ? undefined : waitMs(seen);
  }

  async #save(object: StoredObject, status: DiagnosisStatus): Promise<StoredObject> {
    if (isDeepStrictEqual(status, object.status ?? {})) return object;
    return saveStatus(this.#context, object, status);
  }

  async #assign({ metadata }: StoredObject, nodeName: string): Promise<void> {
    const { client, onMessage } = this.#context;
    const { namespace, name, resourceVersion, uid } = metadata;
    const { plural } = KIND_NAMES.Diagnosis;
    await client.request({
      method: 'PATCH',
      path: `/apis/${API_VERSION}/namespaces/${namespace}/${plural}/${name}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion, uid }, spec: { nodeName } },
    });
    onMessage(`Diagnosis ${namespace}/${name}: assigned to node ${nodeName}`);
  }

  async #seenPod(key: string, uid: string, { podReference }: DiagnosisSpec): Promise<SeenPod> {
    const { namespace = '', name = '' } = podReference ?? {};
    const place = `${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
    const pod = await objectAt(this.#context.client, `/api/v1/namespaces/${place}`);
    if (pod !== undefined) {
      this.#missing.delete(key);
      const nodeName = textAt(pod, 'spec', 'nodeName');
      return nodeName
        ? { state: 'scheduled', nodeName }
        : { state: 'unscheduled', why: whyUnscheduled(pod) };
    }
    const nowMs = performance.now();
    const before = this.#missing.get(key);
    const missing = before?.uid === uid ? before : { uid, sinceMs: nowMs };
    this.#missing.set(key, missing);
    return { state: 'missing', forMs: nowMs - missing.sinceMs };
  }
}

function whyUnscheduled(pod: unknown): string {
  const conditions = listAt(pod, 'status', 'conditions') ?? [];
  const scheduled = conditions.find((each) => textAt(each, 'type') === 'PodScheduled');
  const message = textAt(scheduled, 'message');
  return message ? `not scheduled yet: ${message}` : 'not scheduled yet';
}

/** The next attempt: a quarter of what it has waited, but not later than its deadline. */
function waitMs({ spec, status, now }: SeenTarget): number {
  const { deadlineSeconds = Number.POSITIVE_INFINITY } = spec;
  const waitedMs = now.getTime() - Date.parse(status.startTime ?? '');
  const pollMs = Math.min(Math.max(waitedMs / 4, POD_WAIT_MIN_MS), POD_WAIT_MAX_MS);
  return Math.min(pollMs, Math.max(deadlineSeconds * 1_000 - waitedMs, POD_WAIT_MIN_MS));
}
