import type { DiagnosisSpec } from '../api/diagnosis.ts';
import { hasEnded } from '../api/has-ended.ts';
import { follow } from '../store/follow.ts';
import { STORE_WAIT_MAX_MS } from '../store/limits.ts';
import type { ObjectEvent, ObjectKey, Selection, StoredObject } from '../store/store.ts';
import { retried } from '../store/store-answer.ts';
import { keyOf } from '../store/stored-object.ts';
import { driveDiagnosis } from './drive-diagnosis.ts';
import type { Driven, DriverContext } from './driver-context.ts';
import { IN_FLIGHT_MAX, OVERDUE_MAX } from './limits.ts';
import { isUnsettled } from './missing-actions.ts';
import { overdueAt, retentionMs, timerMs } from './time-left.ts';
import { failOnDefect, isUnobserved, observeEnded } from './write-status.ts';

interface RunnerContext extends DriverContext {
  /** The Diagnoses to drive; absent: all. */
  readonly selection?: Selection;
  /** How many run at once, where there is less memory than usual. */
  readonly inFlightMax?: number;
  /** Deletes ended Diagnoses after their TTL. Absent where a controller does that. */
  readonly deletesExpired?: boolean;
  /** Called with each Diagnosis that was listed, changed or deleted. */
  readonly onSeen?: (event: ObjectEvent) => void;
  /** Called with each Diagnosis that ends here. */
  readonly onEnded?: (object: StoredObject) => void;
}

/** A Diagnosis that is running, queued or waiting. */
class Entry {
  readonly key: ObjectKey;
  uid = '';
  /** Versions that we wrote and the watch has not reported yet. */
  readonly written = new Set<string>();
  /** Versions that the watch reported during the run and that we have not written. */
  readonly unseen = new Set<string>();
  /** Cancelled, or past its deadline from then on: only its end has to be written. */
  overdueAt = Number.POSITIVE_INFINITY;
  /** An Operation or OperationSet changed during the run. */
  isStale = false;
  /** Until it is deleted. */
  hasEnded = false;
  /** Aborts the running step. */
  running: AbortController | undefined;
  timer: NodeJS.Timeout | undefined;

  constructor(key: ObjectKey) {
    this.key = key;
  }
}

/**
 * Drives all Diagnoses of a store, many at once, as long as its process lives. It starts with those
 * that an earlier process left unfinished; then changes and timers wake it.
 */
export class Runner {
  readonly #context: RunnerContext;
  readonly #entries = new Map<string, Entry>();
  readonly #queue = new Set<Entry>();
  readonly #overdue = new Set<Entry>();
  #inFlight = 0;
  readonly #idle = Promise.withResolvers<void>();

  constructor(context: RunnerContext) {
    const onSaved = (object: StoredObject) => {
      this.#saved(object);
      context.onSaved?.(object);
    };
    this.#context = { ...context, onSaved };
  }

  get counts(): { readonly inFlight: number; readonly queued: number; readonly waiting: number } {
    const { size } = this.#entries;
    const queued = this.#queue.size + this.#overdue.size;
    return { inFlight: this.#inFlight, queued, waiting: size - queued - this.#inFlight };
  }

  /** Until the process shuts down and no step is running any more. */
  async run(): Promise<void> {
    const { store, shutdown, onError, selection, lookup } = this.#context;
    const onShutdown = () => {
      for (const { running, timer } of this.#entries.values()) {
        running?.abort();
        clearTimeout(timer);
      }
      if (this.#inFlight === 0) this.#idle.resolve();
    };
    shutdown.addEventListener('abort', onShutdown, { once: true });
    const wake = {
      onList: async () => this.wakeWaiting(),
      onEvent: () => this.wakeWaiting(),
      onError,
      stop: shutdown,
    };
    const diagnoses = {
      ...wake,
      onList: (objects: AsyncIterable<StoredObject>) => this.#begin(objects),
      onEvent: (event: ObjectEvent) => this.#receive(event),
    };
    const sets = {
      ...wake,
      onList: async () => {
        lookup.forget?.();
        this.wakeWaiting();
      },
      onEvent: ({ object }: ObjectEvent) => {
        lookup.forget?.(object.metadata.name);
        this.wakeWaiting();
      },
    };
    await Promise.all([
      follow(store, 'Diagnosis', diagnoses, selection),
      follow(store, 'OperationSet', sets),
      follow(store, 'Operation', wake),
    ]);
    if (shutdown.aborted) onShutdown();
    await this.#idle.promise;
  }

  /** Most Diagnoses have ended and concern nobody: only the others are in memory together. */
  async #begin(objects: AsyncIterable<StoredObject>): Promise<void> {
    const uids = new Set<string>();
    const concerning: StoredObject[] = [];
    for await (const object of objects) {
      uids.add(object.metadata.uid);
      this.#context.onSeen?.({ type: 'ADDED', object });
      if (this.#isConcerning(object)) concerning.push(object);
    }
    for (const entry of [...this.#entries.values()]) {
      if (!uids.has(entry.uid)) this.#forget(entry);
      else if (!entry.running) entry.written.clear();
    }
    // Only Diagnoses of an earlier list or event have run, so those that are not in this list are gone.
    await this.#context.largeResults.retain(uids);
    for (const object of concerning) this.#see(object);
  }

  #isConcerning(object: StoredObject): boolean {
    if (this.#entries.has(idOf(keyOf(object)))) return true;
    if (this.#isElsewhere(object)) return false;
    if (!hasEnded(object.status?.phase) || isUnobserved(object) || isUnsettled(object)) return true;
    return this.#retentionMs(object) !== undefined;
  }

  #isElsewhere({ spec }: StoredObject): boolean {
    return this.#context.targetOf(spec as DiagnosisSpec).state === 'elsewhere';
  }

  #receive(event: ObjectEvent): void {
    const { type, object } = event;
    this.#context.onSeen?.(event);
    if (type !== 'DELETED') {
      this.#see(object);
      return;
    }
    const entry = this.#entries.get(idOf(keyOf(object)));
    if (entry?.uid === object.metadata.uid) this.#forget(entry);
    void this.#context.largeResults.remove(object.metadata.uid);
  }

  #see(object: StoredObject): void {
    const { uid, resourceVersion, deletionTimestamp } = object.metadata;
    if (!this.#isConcerning(object)) return;
    const id = idOf(keyOf(object));
    const entry = this.#entries.get(id) ?? new Entry(keyOf(object));
    if (deletionTimestamp !== undefined || this.#isElsewhere(object)) {
      this.#forget(entry);
      return;
    }
    this.#entries.set(id, entry);
    const { cancel } = object.spec as DiagnosisSpec;
    const isOver = entry.uid !== uid || cancel || hasEnded(object.status?.phase);
    if (isOver) entry.running?.abort();
    entry.uid = uid;
    entry.overdueAt = overdueAt(object);
    const isOwnWrite = entry.written.delete(resourceVersion);
    if (entry.running && !isOwnWrite) entry.unseen.add(resourceVersion);
    if (entry.running) return;
    if (hasEnded(object.status?.phase) && !isUnsettled(object)) this.#retainEnded(entry, object);
    else if (!isOwnWrite || this.#queue.has(entry)) this.#enqueue(entry);
  }

  /** The watch may report a write before or after the store confirms it. */
  #saved(object: StoredObject): void {
    const { resourceVersion } = object.metadata;
    const entry = this.#entries.get(idOf(keyOf(object)));
    if (entry && !entry.unseen.delete(resourceVersion)) entry.written.add(resourceVersion);
    if (hasEnded(object.status?.phase)) this.#context.onEnded?.(object);
  }

  /** What a Diagnosis waits for may be there now; if not it waits on. */
  wakeWaiting(): void {
    for (const entry of this.#entries.values()) {
      if (entry.running) entry.isStale = true;
      else if (!entry.hasEnded) this.#enqueue(entry);
    }
  }

  #enqueue(entry: Entry): void {
    const isForgotten = this.#entries.get(idOf(entry.key)) !== entry;
    if (isForgotten || this.#context.shutdown.aborted) return;
    entry.hasEnded = false;
    const isOverdue = entry.overdueAt <= Date.now();
    (isOverdue ? this.#queue : this.#overdue).delete(entry);
    (isOverdue ? this.#overdue : this.#queue).add(entry);
    this.#wakeAt(entry, isOverdue ? Number.POSITIVE_INFINITY : entry.overdueAt);
    this.#startNext();
  }

  #startNext(): void {
    const { inFlightMax = IN_FLIGHT_MAX } = this.#context;
    this.#start(this.#overdue, inFlightMax + OVERDUE_MAX);
    this.#start(this.#queue, inFlightMax);
  }

  #start(queue: Set<Entry>, limit: number): void {
    for (const entry of queue) {
      if (this.#inFlight >= limit || this.#context.shutdown.aborted) return;
      queue.delete(entry);
      this.#inFlight += 1;
      void this.#drive(entry);
    }
  }

  async #drive(entry: Entry): Promise<void> {
    const { uid } = entry;
    clearTimeout(entry.timer);
    const running = new AbortController();
    entry.running = running;
    entry.isStale = false;
    entry.unseen.clear();
    const driven = await this.#driven({ ...entry.key, uid }, running.signal);
    // The last step may have stored results after the deletion.
    if (driven.state === 'gone') await this.#context.largeResults.remove(uid);
    entry.running = undefined;
    this.#after(entry, driven);
    this.#inFlight -= 1;
    this.#startNext();
    if (this.#inFlight === 0 && this.#context.shutdown.aborted) this.#idle.resolve();
  }

  async #driven(key: Entry['key'] & { readonly uid: string }, stop: AbortSignal): Promise<Driven> {
    try {
      return await driveDiagnosis(key, this.#context, stop);
    } catch (defect) {
      return failOnDefect(key, defect, this.#context);
    }
  }

  #after(entry: Entry, driven: Driven): void {
    if (driven.state === 'interrupted') {
      this.#wakeAt(entry, Date.now() + STORE_WAIT_MAX_MS);
      return;
    }
    if ('object' in driven) entry.unseen.delete(driven.object.metadata.resourceVersion);
    const isStale = driven.state === 'waits' && entry.isStale;
    if (entry.unseen.size > 0 || isStale) this.#enqueue(entry);
    else if (driven.state === 'waits') this.#wakeAt(entry, driven.againAt);
    else if (driven.state === 'ended') this.#retainEnded(entry, driven.object);
    else this.#forget(entry);
  }

  #retentionMs(object: StoredObject): number | undefined {
    return this.#context.deletesExpired ? retentionMs(object, new Date()) : undefined;
  }

  /** An ended Diagnosis is forgotten, unless it has a TTL. */
  #retainEnded(entry: Entry, object: StoredObject): void {
    const ms = this.#retentionMs(object);
    if (isUnobserved(object)) void observeEnded(object, this.#context.store);
    entry.hasEnded = true;
    clearTimeout(entry.timer);
    if (ms === undefined) {
      // The watch may still report earlier writes, which must not start it again.
      if (entry.written.size === 0) this.#forget(entry);
      return;
    }
    entry.timer = setTimeout(() => void this.#deleteWhenDue(entry), ms);
    entry.timer.unref();
  }

  async #deleteWhenDue(entry: Entry): Promise<void> {
    const { store, shutdown } = this.#context;
    if (shutdown.aborted) return;
    const found = await retried(() => store.get(entry.key), this.#context);
    if (!found.ok || !found.value || !hasEnded(found.value.status?.phase)) return;
    const ms = retentionMs(found.value, new Date());
    // Its TTL may have been extended.
    if (ms === undefined || ms > 1) {
      this.#retainEnded(entry, found.value);
      return;
    }
    const { resourceVersion, uid } = found.value.metadata;
    const deletion = () => store.delete(entry.key, resourceVersion);
    const deleted = await retried(deletion, this.#context);
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
    entry.running?.abort();
    this.#queue.delete(entry);
    this.#overdue.delete(entry);
    const id = idOf(entry.key);
    if (this.#entries.get(id) === entry) this.#entries.delete(id);
  }
}

function idOf({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${name}`;
}
