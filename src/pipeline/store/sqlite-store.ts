import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../lib/std/message-of.ts';
import type { KindName } from '../api/kinds.ts';
import { ChangeHistory, type Change as RecordedChange } from './change-history.ts';
import { CHANGES_PER_COMMIT_MAX, CHANGES_WAITING_MAX, STORE_BYTES_MAX } from './limits.ts';
import { matcherOf } from './selector.ts';
import { isFull, memoryDatabase, openDatabase, reuseLog, tryReserve } from './sqlite-file.ts';
import { SqliteReserve } from './sqlite-reserve.ts';
import {
  closed,
  conflict,
  notFound,
  objectsIn,
  reportingOnce,
  type Statements,
  statementsOf,
  unavailable,
} from './sqlite-rows.ts';
import type {
  NewObject,
  ObjectKey,
  Selection,
  Store,
  StoredEach,
  StoredList,
  StoredObject,
  StoreEvent,
  WatchOptions,
} from './store.ts';
import { StoreError } from './store-error.ts';
import {
  createdObject,
  emptyObject,
  keyOf,
  markedDeleted,
  nameOf,
  namespaceOf,
  objectOf,
  textOf,
  updatedObject,
  withStatus,
  withVersion,
} from './stored-object.ts';

export interface SqliteOptions {
  readonly bytesMax?: number;
  /** Called once for each damaged object. */
  readonly onError?: ((message: string) => void) | undefined;
  /** How long a watch may send nothing while other objects change. */
  readonly bookmarkMs?: number;
}

/** A store in a file of this node. An older file is migrated. */
export async function openSqliteStore(
  path: string,
  options: SqliteOptions = {},
): Promise<SqliteStore> {
  const database = await openDatabase(path, options.bytesMax ?? STORE_BYTES_MAX);
  return new SqliteStore(database, options, new SqliteReserve(`${path}.reserve`));
}

/** A store that ends with this process. */
export function openMemoryStore(options: SqliteOptions = {}): SqliteStore {
  return new SqliteStore(memoryDatabase(), options);
}

/** What a write makes of the object that is stored now. */
type Change = (before: StoredObject | undefined) => {
  readonly object: StoredObject;
  readonly isDeleted?: boolean;
};

interface Write {
  readonly key: ObjectKey;
  readonly change: Change;
  readonly isDeletion: boolean;
  readonly done: PromiseWithResolvers<StoredObject>;
}

interface Written {
  readonly object: StoredObject;
  readonly change?: RecordedChange;
}

/**
 * A store on SQLite. Writes of the same turn of the event loop share one transaction and one sync of
 * the disk; their promises resolve after it.
 */
export class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #history: ChangeHistory;
  readonly #sql: Statements;
  #version: number;
  readonly #queue: Write[] = [];
  readonly #reserve: SqliteReserve | undefined;
  /** Of the last transaction. */
  #error: unknown;
  readonly #onDamaged: (message: string) => void;
  #isClosed = false;

  constructor(
    database: DatabaseSync,
    { onError, bookmarkMs }: SqliteOptions,
    reserve?: SqliteReserve,
  ) {
    this.#database = database;
    this.#reserve = reserve;
    this.#onDamaged = reportingOnce(onError);
    this.#sql = statementsOf(database);
    this.#version = Number(this.#sql.version.get()?.version);
    this.#history = new ChangeHistory(this.#version, bookmarkMs);
  }

  async create(object: NewObject): Promise<StoredObject> {
    const key = keyOf(object);
    return this.#write(key, (before) => {
      if (!before) return { object: createdObject(object, new Date()) };
      throw new StoreError('AlreadyExists', `${nameOf(key)}: already exists; use another name`);
    });
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    return this.#reading(() => this.#stored(key)?.object);
  }

  async list(kind: KindName, selection?: Selection): Promise<StoredList> {
    const { objects, resourceVersion } = await this.each(kind, selection);
    const items: StoredObject[] = [];
    for await (const object of objects) items.push(object);
    return { items, resourceVersion };
  }

  async each(kind: KindName, selection: Selection = {}): Promise<StoredEach> {
    const { namespace, ...selectors } = selection;
    const first = namespace === undefined ? '' : namespaceOf({ kind, namespace, name: '' });
    const { version, list, listIn } = this.#sql;
    this.#reading(() => version.get());
    const objects = objectsIn([kind, first, ''], {
      page: (after) => this.#reading(() => (namespace === undefined ? list : listIn).all(...after)),
      isSelected: matcherOf(selectors),
      onDamaged: ({ message }) => this.#onDamaged(message),
    });
    return { objects, resourceVersion: String(this.#version) };
  }

  async update(object: StoredObject): Promise<StoredObject> {
    return this.#write(keyOf(object), (before) => {
      const updated = updatedObject(current(before, object), object);
      const { deletionTimestamp, finalizers } = updated.metadata;
      return { object: updated, isDeleted: deletionTimestamp !== undefined && !finalizers };
    });
  }

  async updateStatus(object: StoredObject): Promise<StoredObject> {
    return this.#write(keyOf(object), (before) => ({
      object: withStatus(current(before, object), object),
    }));
  }

  async delete(key: ObjectKey, resourceVersion?: string): Promise<void> {
    const change: Change = (before) => {
      if (!before) throw notFound(key);
      const { metadata } = before;
      if (resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion) {
        throw conflict(key);
      }
      if (metadata.finalizers) return { object: markedDeleted(before, new Date()) };
      return { object: before, isDeleted: true };
    };
    await this.#write(key, change, true);
  }

  watch(kind: KindName, options: WatchOptions): AsyncIterable<StoreEvent> {
    return this.#history.watch(kind, options, matcherOf(options));
  }

  /** Why the store accepts no writes. Tries again, because no client may do so. */
  async writeError(): Promise<string | undefined> {
    if (this.#error === undefined || this.#isClosed) return undefined;
    this.#error = tryReserve(this.#database);
    if (this.#error !== undefined) return `the store accepts no writes: ${messageOf(this.#error)}`;
    this.#reserve?.renew();
    return undefined;
  }

  /** Rejects the writes that are not on disk yet, and ends all watches. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#history.close();
    this.#database.close();
    for (const { done } of this.#queue.splice(0)) done.reject(closed());
  }

  #reading<T>(read: () => T): T {
    if (this.#isClosed) throw closed();
    try {
      return read();
    } catch (error) {
      throw unavailable('the store cannot be read', error);
    }
  }

  #stored(
    key: ObjectKey,
    isDeletion = false,
  ): { readonly object: StoredObject; readonly text: string } | undefined {
    const row = this.#sql.get.get(key.kind, namespaceOf(key), key.name);
    if (row === undefined) return undefined;
    const text = String(row.text);
    const object = objectOf(text, key);
    if (!(object instanceof StoreError)) return { object, text };
    if (!isDeletion) throw object;
    // A damaged object can still be deleted.
    return { object: emptyObject(key), text };
  }

  #write(key: ObjectKey, change: Change, isDeletion = false): Promise<StoredObject> {
    namespaceOf(key);
    if (this.#isClosed) throw closed();
    if (this.#queue.length >= CHANGES_WAITING_MAX) {
      const message = `${CHANGES_WAITING_MAX} writes wait for the disk already; try again later`;
      throw new StoreError('ServiceUnavailable', message);
    }
    if (this.#queue.length === 0) setImmediate(() => this.#commitNext());
    const done = Promise.withResolvers<StoredObject>();
    this.#queue.push({ key, change, isDeletion, done });
    return done.promise;
  }

  #commitNext(): void {
    const writes = this.#queue.splice(0, CHANGES_PER_COMMIT_MAX);
    if (this.#queue.length > 0) setImmediate(() => this.#commitNext());
    if (writes.length === 0) return;
    let error = this.#commit(writes);
    if (isFull(error) && reuseLog(this.#database)) error = this.#commit(writes);
    this.#error = error;
    if (error === undefined) return;
    const deletions = writes.filter(({ isDeletion }) => isDeletion);
    const isFreed = isFull(error) && this.#commitDeletions(deletions);
    for (const { key, isDeletion, done } of writes) {
      if (!isFreed || !isDeletion) done.reject(this.#writeErrorOf(error, key));
    }
  }

  /** A full disk has space for deletions alone, and they free more. */
  #commitDeletions(deletions: readonly Write[]): boolean {
    if (deletions.length === 0 || !this.#reserve) return false;
    return this.#reserve.whileFree(() => {
      const isDone = this.#commit(deletions) === undefined;
      reuseLog(this.#database);
      return isDone;
    });
  }

  #writeErrorOf(error: unknown, key: ObjectKey): Error {
    return this.#isClosed ? closed() : unavailable(`${nameOf(key)}: not stored`, error);
  }

  /** One transaction, or the error that rolled it back. */
  #commit(writes: readonly Write[]): unknown {
    const changes: RecordedChange[] = [];
    const settle: (() => void)[] = [];
    const before = this.#version;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const { done, ...write } of writes) {
        const written = this.#apply(write);
        if (written instanceof StoreError) settle.push(() => done.reject(written));
        else settle.push(() => done.resolve(written.object));
        if (!(written instanceof StoreError) && written.change) changes.push(written.change);
      }
      if (changes.length > 0) this.#sql.setVersion.run(this.#version);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#version = before;
      this.#rollBack();
      return error;
    }
    this.#history.add(changes);
    for (const each of settle) each();
    return undefined;
  }

  /** One write inside the transaction. A rejected one has changed nothing. */
  #apply({ key, change, isDeletion }: Omit<Write, 'done'>): Written | StoreError {
    try {
      const before = this.#stored(key, isDeletion);
      const { object: after, isDeleted = false } = change(before?.object);
      if (after === before?.object && !isDeleted) return { object: after };
      const version = this.#version + 1;
      const object = withVersion(after, version);
      const text = textOf(object);
      const row = [key.kind, namespaceOf(key), key.name] as const;
      if (isDeleted) this.#sql.delete.run(...row);
      else this.#sql.put.run(...row, text);
      this.#version = version;
      const { kind } = key;
      if (isDeleted) return { object, change: { version, type: 'DELETED', kind, text } };
      const type = before ? 'MODIFIED' : 'ADDED';
      return { object, change: { version, type, kind, text, before: before?.text } };
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  #rollBack(): void {
    try {
      if (!this.#isClosed && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // Nobody may read what was not committed.
      this.close();
    }
  }
}

/** The stored object, if it is the version that the writer has read. */
function current(before: StoredObject | undefined, wanted: StoredObject): StoredObject {
  const key = keyOf(wanted);
  if (!before) throw notFound(key);
  const { uid, resourceVersion } = before.metadata;
  const isRead = wanted.metadata.uid === uid && wanted.metadata.resourceVersion === resourceVersion;
  if (!isRead) throw conflict(key);
  return before;
}
