import { isDeepStrictEqual } from 'node:util';
import { cutSentence } from '../../../lib/std/cut-sentence.ts';
import { isObject } from '../../../lib/std/json.ts';
import { mapAtOnce } from '../../../lib/std/map-at-once.ts';
import { RECOVERY_POLICY_PATH } from '../../../pipeline/api/cluster-names.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { API_VERSION, KIND_NAMES } from '../../../pipeline/api/kind-names.ts';
import { failedFor } from '../../../pipeline/graph/conditions.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import type { WorkQueue } from '../../../pipeline/kube/work-queue.ts';
import { whyUnchecked } from '../../../pipeline/recovery/decide-recovery.ts';
import { policyIn } from '../../../pipeline/recovery/seen-policy.ts';
import type { ObjectKey, StoredObject } from '../../../pipeline/store/store.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import { isTemporary, type StoreError } from '../../../pipeline/store/store-error.ts';
import type { ControllerContext, ControllerPart } from '../controller-context.ts';
import { type DiagnosisDigest, diagnosisDigest } from '../digests.ts';
import { MESSAGE_CHARACTERS_MAX } from '../limits.ts';
import { openQueue } from '../open-queue.ts';
import { childOf, isChildOf, isParent } from './child-diagnosis.ts';
import { type ChildChange, decideParent, decideSelected, deletedText } from './decide-parent.ts';
import {
  CHILDREN_PER_SECOND,
  CONFLICTS_MAX,
  PARENTS_AT_ONCE,
  PAUSE_MS,
  REQUESTS_AT_ONCE,
  SELECT_AGAIN_MS,
  STATUS_MS,
} from './limits.ts';
import { Pace } from './pace.ts';
import { foreignText, ParentMemory, seenNodes } from './seen-nodes.ts';
import { selectNodes } from './select-nodes.ts';

/** Gives each node of a Diagnosis of several nodes a Diagnosis of its own, and counts them. */
export const fanOut: ControllerPart = (context) => new FanOut(context).run();

class FanOut {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  readonly #pace = new Pace(CHILDREN_PER_SECOND);
  /** What is remembered of the parents that are worked on, by their keys. */
  readonly #memories = new Map<string, ParentMemory>();
  /** Keys of parents by their uids. */
  readonly #keys = new Map<string, string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = openQueue(context, 'fan-out', (key) => this.#work(key), PARENTS_AT_ONCE);
  }

  async run(): Promise<void> {
    const { diagnoses } = this.#context;
    diagnoses.onChange((key, now, before) => this.#see(key, now, before));
    for (const [key, digest] of diagnoses.entries()) {
      if (!isParent(digest)) continue;
      this.#keys.set(digest.uid, key);
      if (!hasEnded(digest.phase) || this.#hasOpenChild(digest)) this.#queue.add(key);
    }
  }

  #hasOpenChild({ uid }: DiagnosisDigest): boolean {
    const { diagnoses } = this.#context;
    return diagnoses.keysBy('parent', uid).some((key) => {
      const child = diagnoses.get(key);
      return child !== undefined && !hasEnded(child.phase);
    });
  }

  #see(key: string, now: DiagnosisDigest | undefined, before: DiagnosisDigest | undefined): void {
    const digest = now ?? before;
    if (digest === undefined) return;
    const parentKey = digest.parentUid === undefined ? undefined : this.#keys.get(digest.parentUid);
    // The label of a Diagnosis in another namespace means nothing.
    if (parentKey?.startsWith(`${digest.namespace}/`)) {
      const { nodeName = '', name } = digest;
      const memory = this.#memories.get(parentKey);
      const isOurs = memory?.uid === digest.parentUid && memory?.childNameOf(nodeName) === name;
      if (!now && isOurs) memory?.failures.set(nodeName, deletedText(name));
      this.#queue.add(parentKey);
    }
    if (!isParent(digest)) return;
    if (now) this.#keys.set(now.uid, key);
    else this.#keys.delete(digest.uid);
    const isOwnWrite = now?.resourceVersion === this.#memories.get(key)?.writtenVersion;
    if (!isOwnWrite) this.#queue.add(key);
  }

  async #work(key: string): Promise<number | undefined> {
    const { store } = this.#context;
    const found = await this.#parentAt(key);
    if (found === 'early')
      return Math.max((this.#memories.get(key)?.nextMs ?? 0) - performance.now(), 1);
    if (!found) {
      this.#memories.delete(key);
      return undefined;
    }
    const { memory } = found;
    memory.nextMs = performance.now() + STATUS_MS;
    let conflicts = 0;
    for (let object = found.object; ; ) {
      const { againMs, saved } = await this.#goOn(object, memory);
      if (!saved) {
        // Another writer was faster.
        conflicts += 1;
        if (conflicts === CONFLICTS_MAX) return STATUS_MS;
        const again = await store.get(keyOf(object));
        if (again?.metadata.uid !== memory.uid) return 0;
        object = again;
      } else if (againMs === 'now') object = saved;
      else return againMs;
    }
  }

  async #parentAt(
    key: string,
  ): Promise<
    { readonly object: StoredObject; readonly memory: ParentMemory } | 'early' | undefined
  > {
    const { store, diagnoses } = this.#context;
    const last = this.#memories.get(key);
    if (last && last.nextMs > performance.now()) return 'early';
    const digest = diagnoses.get(key);
    if (!digest || !isParent(digest)) return undefined;
    const { namespace, name } = digest;
    const object = await store.get({ kind: 'Diagnosis', namespace, name });
    if (!object || object.metadata.deletionTimestamp !== undefined) return undefined;
    if (!isParent(diagnosisDigest(object))) return undefined;
    const memory = last?.uid === object.metadata.uid ? last : new ParentMemory(object);
    this.#memories.set(key, memory);
    return { object, memory };
  }

  /** One decision. Without `saved` another writer has changed the object. */
  async #goOn(
    object: StoredObject,
    memory: ParentMemory,
  ): Promise<{
    readonly againMs: number | 'now' | undefined;
    readonly saved: StoredObject | undefined;
  }> {
    const { now, stop, arrivalMs } = this.#context;
    const [spec, status] = [object.spec as DiagnosisSpec, (object.status ?? {}) as DiagnosisStatus];
    const decide = async () =>
      decideParent({
        spec,
        status,
        nodes: await seenNodes(object, memory, this.#context),
        now: now(),
      });
    const decision = await decide();
    if (decision.kind === 'select') {
      const selected = await selectNodes(spec, this.#context);
      const next = decideSelected({ status, now: now(), arrivalMs }, selected);
      if (!next)
        return { againMs: SELECT_AGAIN_MS, saved: await this.#save(object, status, memory) };
      return { againMs: 'now', saved: await this.#save(object, next, memory) };
    }
    const { create } = decision;
    const refused = create.length > 0 ? await this.#unchecked(object) : undefined;
    if (refused) return { againMs: 'now', saved: await this.#save(object, refused, memory) };
    await this.#create(object, create.slice(0, CHILDREN_PER_SECOND), memory);
    const after = create.length > 0 ? await decide() : decision;
    if (after.kind === 'select') return { againMs: 'now', saved: object };
    const { change, againMs } = after;
    const saved = await this.#save(object, after.status, memory);
    // Another writer may just have extended the deadline.
    if (!saved) return { againMs: 'now', saved };
    const due = memory.dueChanges(change);
    await this.#change(due.slice(0, CHILDREN_PER_SECOND), memory);
    // The first states follow one another at once; from then on the status has its interval.
    if (againMs === 0) return { againMs: 'now', saved };
    const isUnfinished = after.create.length > 0 || due.length > CHILDREN_PER_SECOND;
    if (isUnfinished && !stop.aborted) {
      const pausedMs = Math.max(this.#pausedMs(memory), 1);
      return { againMs: Math.min(pausedMs, againMs ?? Infinity), saved };
    }
    return { againMs: againMs === undefined ? undefined : againMs + 1, saved };
  }

  #pausedMs(memory: ParentMemory): number {
    return Math.max(this.#pace.pausedMs, memory.pausedMs);
  }

  /**
   * The status of a Diagnosis that nobody has checked. Its children would be newer than the admission
   * policies, and the controller, who creates them, may do what its author perhaps may not.
   */
  async #unchecked({ metadata, spec, status }: StoredObject): Promise<DiagnosisStatus | undefined> {
    const { client, now } = this.#context;
    const { recovery, dryRun } = spec as DiagnosisSpec;
    if (recovery === 'Never' || dryRun) return undefined;
    const object = await objectAt(client, RECOVERY_POLICY_PATH);
    const seen = policyIn(object);
    // Its status counts also while its spec is malformed, because a person will correct that.
    const policy =
      seen.state === 'usable' || !isObject(object) ? seen : policyIn({ ...object, spec: {} });
    const why =
      policy.state === 'usable' ? whyUnchecked(policy, metadata.creationTimestamp) : undefined;
    if (why?.reason !== 'AuthorNotChecked') return undefined;
    const failed = failedFor(status ?? {}, why.reason, now(), why.name);
    return { ...failed, result: 'Refused' };
  }

  async #create(
    object: StoredObject,
    names: readonly string[],
    memory: ParentMemory,
  ): Promise<void> {
    const { store, stop } = this.#context;
    await mapAtOnce(names, REQUESTS_AT_ONCE, async (nodeName) => {
      // The status of this second is due, and other parents wait for their turn.
      if (this.#pausedMs(memory) > 0 || performance.now() >= memory.nextMs) return;
      await this.#pace.turn(stop);
      if (stop.aborted) return;
      const child = childOf(object, nodeName);
      const answer = await answerOf(store.create(child));
      if (answer.ok) memory.noteCreated(nodeName);
      else if (answer.error.reason === 'AlreadyExists') {
        await this.#takeOver(object, child.metadata.name, nodeName, memory);
      } else this.#refused(answer.error, object, nodeName, memory);
    });
  }

  /** An answer was lost, another controller was faster, or the name is taken. */
  async #takeOver(
    { metadata, spec }: StoredObject,
    name: string,
    nodeName: string,
    memory: ParentMemory,
  ): Promise<void> {
    const { namespace = '', uid } = metadata;
    const answer = await answerOf(this.#context.store.get({ kind: 'Diagnosis', namespace, name }));
    // It is tried again.
    if (!answer.ok || !answer.value) return;
    const { operationSet } = spec as DiagnosisSpec;
    if (isChildOf(diagnosisDigest(answer.value), { uid, operationSet }, nodeName)) {
      memory.noteCreated(nodeName);
    } else memory.failures.set(nodeName, foreignText(name));
  }

  /** A server that is busy or away is asked again; one that refuses is not. */
  #refused(
    error: StoreError,
    { metadata: { namespace, name } }: StoredObject,
    nodeName: string,
    memory: ParentMemory,
  ): void {
    this.#context.onMessage(`Diagnosis ${namespace}/${name}, node ${nodeName}: ${error.message}`);
    if (error.reason === 'TooManyRequests') {
      this.#pace.pauseFor(error.retryAfterMs ?? PAUSE_MS);
      return;
    }
    // It may be an error of one namespace, such as a webhook that does not answer.
    if (isTemporary(error) || error.reason === 'Conflict' || memory.mayGetRight(error)) {
      memory.pause(error.retryAfterMs);
      return;
    }
    const why = `cannot create its Diagnosis: ${error.message}`;
    memory.failures.set(nodeName, cutSentence(why, MESSAGE_CHARACTERS_MAX));
  }

  async #change(changes: readonly ChildChange[], memory: ParentMemory): Promise<void> {
    const { client, stop, onMessage } = this.#context;
    await mapAtOnce(changes, REQUESTS_AT_ONCE, async (change) => {
      await this.#pace.turn(stop);
      if (stop.aborted) return;
      memory.noteSent(change);
      const { child, spec } = change;
      const { namespace, name, uid, resourceVersion } = child;
      const path = `/apis/${API_VERSION}/namespaces/${namespace}/${KIND_NAMES.Diagnosis.plural}/${name}`;
      const contentType = 'application/merge-patch+json';
      const body = { metadata: { uid, resourceVersion }, spec };
      const answer = await answerOf(client.request({ method: 'PATCH', path, contentType, body }));
      // It is gone, or was changed meanwhile: the watch shows it, and brings the parent here again.
      const isOther = !answer.ok && ['NotFound', 'Conflict'].includes(answer.error.reason);
      if (answer.ok || isOther) return;
      onMessage(`Diagnosis ${namespace}/${name}: not changed: ${answer.error.message}`);
    });
  }

  /** The object with this status; undefined if another writer was faster, or it is gone. */
  async #save(
    object: StoredObject,
    decided: DiagnosisStatus,
    memory: ParentMemory,
  ): Promise<StoredObject | undefined> {
    const { store, onMessage } = this.#context;
    const { generation: observedGeneration, namespace, name } = object.metadata;
    const status: DiagnosisStatus = { ...decided, observedGeneration };
    if (isDeepStrictEqual(status, object.status)) return object;
    const answer = await answerOf(store.updateStatus({ ...object, status }));
    if (answer.ok) {
      memory.writtenVersion = answer.value.metadata.resourceVersion;
      const { phase, result = '' } = status;
      if (phase !== object.status?.phase) {
        onMessage(`Diagnosis ${namespace}/${name}: ${phase}${result === '' ? '' : `, ${result}`}`);
      }
      return answer.value;
    }
    const { error } = answer;
    if (error.reason === 'Conflict' || error.reason === 'NotFound') return undefined;
    const isTooLarge = error.reason === 'RequestEntityTooLarge' || error.reason === 'Invalid';
    if (!isTooLarge || decided.phase === 'Failed') throw error;
    const { startTime } = decided;
    const why = cutSentence(`the status was refused: ${error.message}`, MESSAGE_CHARACTERS_MAX);
    const bare = failedFor(
      startTime ? { startTime } : {},
      'SyncDiagnosisFailed',
      this.#context.now(),
      why,
    );
    return this.#save(object, { ...bare, result: 'Error' }, memory);
  }
}

function keyOf({ metadata: { namespace = '', name } }: StoredObject): ObjectKey {
  return { kind: 'Diagnosis', namespace, name };
}
