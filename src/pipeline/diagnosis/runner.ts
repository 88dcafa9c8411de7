import type { DiagnosisSpec } from '../api/diagnosis.ts';
import type { KindName } from '../api/kinds.ts';
import { STORE_WAIT_FIRST_MS, STORE_WAIT_MAX_MS } from '../store/limits.ts';
import { sleepUntilStopped } from '../store/sleep-until-stopped.ts';
import type { ObjectKey, StoredObject, StoreEvent } from '../store/store.ts';
import { answerOf, longer, patiently } from '../store/store-answer.ts';
import { keyOf } from '../store/stored-object.ts';
import { type Driven, driveDiagnosis } from './drive-diagnosis.ts';
import { type DriverContext, patienceOf } from './driver-environment.ts';
import { failInvalid } from './fail-invalid.ts';
import { isUnobserved, observe } from './late-change.ts';
import { IN_FLIGHT_MAX, LARGE_STEPS_MAX, OVER_MAX } from './limits.ts';
import { Semaphore } from './semaphore.ts';
import { hasEnded, overAt, retentionMs, timerMs } from './time-left.ts';

interface RunnerContext extends DriverContext {
  /** Told of each that has come to its end here. */
  readonly onEnded?: (object: StoredObject) => void;
}

/** A Diagnosis that is driven, waits to be, or waits for something. */
interface Entry {
  readonly key: ObjectKey;
  uid: string;
  /** The last version that was told of, and the last that was driven from or written by us. */
  newest: number;
  seen: number;
  /** From then on it waits behind nobody: only its end is left to be written. */
  overAt: number;
  /** Something that it may have missed came while it was driven. */
  isLate: boolean;
  /** Only to be deleted, some day. */
  hasEnded: boolean;
  /** Ends the step that is run. */
  driving: AbortController | undefined;
  timer: NodeJS.Timeout | undefined;
}

const FOLLOWED: readonly KindName[] = ['Diagnosis', 'OperationSet', 'Operation'];

/**
 * Drives all Diagnoses of a store, many at once, for as long as its process lives. It begins with what
 * an earlier process left unfinished; afterwards changes wake it, and nothing else but their own times.
 */
export class Runner {
  readonly #context: RunnerContext;
  readonly #entries = new Map<string, Entry>();
  readonly #queue = new Set<Entry>();
  readonly #over = new Set<Entry>();
  #inFlight = 0;
  #hasBegun = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(context: RunnerContext) {
    this.#context = { holdLarge: new Semaphore(LARGE_STEPS_MAX), ...context };
  }

  get counts(): { readonly inFlight: number; readonly queued: number; readonly waiting: number } {
    const { size } = this.#entries;
    const queued = this.#queue.size + this.#over.size;
    return { inFlight: this.#inFlight, queued, waiting: size - queued - this.#inFlight };
  }

  /** Until the process is to end and no step is under way any more. */
  async run(): Promise<void> {
    const { shutdown } = this.#context;
    const onEnd = () => {
      for (const { driving, timer } of this.#entries.values()) {
        driving?.abort();
        clearTimeout(timer);
      }
      if (this.#inFlight === 0) this.#idle.resolve();
    };
    shutdown.addEventListener('abort', onEnd, { once: true });
    await Promise.all(FOLLOWED.map((kind) => this.#follow(kind)));
    if (shutdown.aborted) onEnd();
    await this.#idle.promise;
  }

  /** Lists a kind and watches it; again whenever the watch has missed something, ever more seldom. */
  async #follow(kind: KindName): Promise<void> {
    const { shutdown, onError } = this.#context;
    for (let waitMs = STORE_WAIT_FIRST_MS; !shutdown.aborted; waitMs = longer(waitMs)) {
      const begun = performance.now();
      const answer = await answerOf(this.#listAndWatch(kind));
      if (!answer.ok && answer.error.trouble !== 'Gone') onError?.(answer.error.message);
      if (performance.now() - begun > STORE_WAIT_MAX_MS) waitMs = STORE_WAIT_FIRST_MS;
      await sleepUntilStopped(waitMs, shutdown);
    }
  }

  async #listAndWatch(kind: KindName): Promise<void> {
    const { store, shutdown } = this.#context;
    const { objects, resourceVersion } = await store.each(kind);
    if (kind === 'Diagnosis') await this.#begin(objects);
    else this.#wakeWaiting();
    for await (const event of store.watch(kind, resourceVersion, shutdown)) this.#tell(event);
  }

  /** Most have ended as a rule, and are of no concern: only the others are held all at once. */
  async #begin(objects: Iterable<StoredObject>): Promise<void> {
    const there = new Set<string>();
    const concerning: StoredObject[] = [];
    for (const object of objects) {
      there.add(object.metadata.uid);
      if (this.#isConcerning(object)) concerning.push(object);
    }
    for (const entry of [...this.#entries.values()]) {
      if (!there.has(entry.uid)) this.#forget(entry);
    }
    // Only while nothing is driven: what is kept for one that is newer than the list must stay.
    if (!this.#hasBegun) await this.#context.largeResults.retain(there);
    this.#hasBegun = true;
    for (const object of concerning) this.#see(object);
  }

  #isConcerning(object: StoredObject): boolean {
    const isKnown = this.#entries.has(idOf(keyOf(object)));
    if (isKnown || !hasEnded(object) || isUnobserved(object)) return true;
    return retentionMs(object, new Date()) !== undefined;
  }

  #tell({ type, object }: StoreEvent): void {
    if (object.kind !== 'Diagnosis') this.#wakeWaiting();
    else if (type !== 'DELETED') this.#see(object);
    else {
      const entry = this.#entries.get(idOf(keyOf(object)));
      if (entry?.uid === object.metadata.uid) this.#forget(entry);
      void this.#context.largeResults.remove(object.metadata.uid);
    }
  }

  #see(object: StoredObject): void {
    const { uid, resourceVersion } = object.metadata;
    const { cancel } = object.spec as DiagnosisSpec;
    const id = idOf(keyOf(object));
    const known = this.#entries.get(id);
    if (!this.#isConcerning(object)) return;
    const entry = known ?? newEntry(keyOf(object));
    this.#entries.set(id, entry);
    entry.newest = Number(resourceVersion);
    if (entry.driving && (entry.uid !== uid || cancel)) entry.driving.abort();
    entry.uid = uid;
    entry.overAt = overAt(object);
    if (entry.driving || (entry.newest <= entry.seen && !this.#queue.has(entry))) return;
    if (hasEnded(object)) this.#retainEnded(entry, object);
    else this.#enqueue(entry);
  }

  /** What was missing may be there now; whoever waits for something else goes on waiting. */
  #wakeWaiting(): void {
    for (const entry of this.#entries.values()) {
      if (entry.driving) entry.isLate = true;
      else if (!entry.hasEnded) this.#enqueue(entry);
    }
  }

  #enqueue(entry: Entry): void {
    const isForgotten = this.#entries.get(idOf(entry.key)) !== entry;
    if (isForgotten || this.#context.shutdown.aborted) return;
    entry.hasEnded = false;
    const isOver = entry.overAt <= Date.now();
    (isOver ? this.#queue : this.#over).delete(entry);
    (isOver ? this.#over : this.#queue).add(entry);
    this.#wakeAt(entry, isOver ? Number.POSITIVE_INFINITY : entry.overAt);
    this.#startNext();
  }

  #startNext(): void {
    this.#start(this.#over, IN_FLIGHT_MAX + OVER_MAX);
    this.#start(this.#queue, IN_FLIGHT_MAX);
  }

  #start(queue: Set<Entry>, most: number): void {
    for (const entry of queue) {
      if (this.#inFlight >= most || this.#context.shutdown.aborted) return;
      queue.delete(entry);
      this.#inFlight += 1;
      void this.#drive(entry);
    }
  }

  async #drive(entry: Entry): Promise<void> {
    const { uid } = entry;
    const key = { ...entry.key, uid };
    clearTimeout(entry.timer);
    entry.driving = new AbortController();
    entry.isLate = false;
    const driving = driveDiagnosis(key, this.#context, entry.driving.signal);
    const driven = await driving.catch((error) => failInvalid(key, error, this.#context));
    // What its last step found may have been kept after it was deleted.
    if (driven.state === 'gone') await this.#context.largeResults.remove(uid);
    entry.driving = undefined;
    this.#after(entry, driven);
    this.#inFlight -= 1;
    this.#startNext();
    if (this.#inFlight === 0 && this.#context.shutdown.aborted) this.#idle.resolve();
  }

  #after(entry: Entry, driven: Driven): void {
    if (driven.state === 'interrupted') {
      this.#wakeAt(entry, Date.now() + STORE_WAIT_MAX_MS);
      return;
    }
    // One of the same name may have come after it.
    const isReplaced = driven.state === 'gone' && entry.newest > entry.seen;
    entry.seen = driven.state === 'gone' ? entry.newest : versionOf(driven.object);
    const isLate = driven.state === 'waits' && entry.isLate;
    if (isReplaced || isLate || entry.newest > entry.seen) this.#enqueue(entry);
    else if (driven.state === 'gone') this.#forget(entry);
    else if (driven.state === 'waits') this.#wakeAt(entry, driven.againAt);
    else {
      this.#context.onEnded?.(driven.object);
      this.#retainEnded(entry, driven.object);
    }
  }

  /** One that has ended is of no concern, unless it is to be deleted some day. */
  #retainEnded(entry: Entry, object: StoredObject): void {
    const ms = retentionMs(object, new Date());
    if (isUnobserved(object)) void observe(object, this.#context.store);
    entry.hasEnded = true;
    entry.seen = entry.newest;
    clearTimeout(entry.timer);
    if (ms === undefined) {
      this.#forget(entry);
      return;
    }
    entry.timer = setTimeout(() => void this.#deleteWhenDue(entry), ms);
    entry.timer.unref();
  }

  async #deleteWhenDue(entry: Entry): Promise<void> {
    const { store, shutdown } = this.#context;
    if (shutdown.aborted) return;
    const found = await patiently(() => store.get(entry.key), patienceOf(this.#context));
    if (!found.ok || !found.value || !hasEnded(found.value)) return;
    const ms = retentionMs(found.value, new Date());
    // Somebody may want it to be kept for longer by now.
    if (ms === undefined || ms > 1) {
      this.#retainEnded(entry, found.value);
      return;
    }
    const { resourceVersion, uid } = found.value.metadata;
    const deleting = () => store.delete(entry.key, resourceVersion);
    const deleted = await patiently(deleting, patienceOf(this.#context));
    if (!deleted.ok) return;
    await this.#context.largeResults.remove(uid);
    if (entry.uid === uid) this.#forget(entry);
  }

  #wakeAt(entry: Entry, time: number): void {
    clearTimeout(entry.timer);
    if (time === Number.POSITIVE_INFINITY) return;
    entry.timer = setTimeout(() => this.#enqueue(entry), timerMs(time - Date.now()));
    entry.timer.unref();
  }

  #forget(entry: Entry): void {
    clearTimeout(entry.timer);
    entry.driving?.abort();
    this.#queue.delete(entry);
    this.#over.delete(entry);
    const id = idOf(entry.key);
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }
}

function newEntry(key: ObjectKey): Entry {
  return {
    key,
    uid: '',
    newest: 0,
    seen: 0,
    overAt: Number.POSITIVE_INFINITY,
    isLate: false,
    hasEnded: false,
    driving: undefined,
    timer: undefined,
  };
}

function versionOf({ metadata }: StoredObject): number {
  return Number(metadata.resourceVersion);
}

function idOf({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}
