import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../lib/std/message-of.ts';
import type { KindName } from '../api/kinds.ts';
import { type Change, ChangeHistory } from './change-history.ts';
import { CHANGES_PER_COMMIT_MAX, CHANGES_WAITING_MAX, STORE_BYTES_MAX } from './limits.ts';
import { isFull, memoryDatabase, openDatabase, reuseLog, tryReserve } from './sqlite-file.ts';
import { objectsIn, reportingOnce } from './sqlite-pages.ts';
import { SqliteReserve } from './sqlite-reserve.ts';
import { type Statements, statementsOf } from './sqlite-statements.ts';
import {
  type NewObject,
  type ObjectKey,
  type Store,
  type StoredEach,
  type StoredList,
  type StoredObject,
  StoreError,
  type StoreEvent,
} from './store.ts';
import { closed, conflict, failureOf, notFound } from './store-failures.ts';
import {
  createdObject,
  keyOf,
  objectOf,
  placeOf,
  textOf,
  unreadObject,
  updatedObject,
  withStatus,
  withVersion,
  wordsOf,
} from './stored-object.ts';

export interface SqliteOptions {
  readonly bytesMax?: number;
  /** Told of each object that is damaged, once. */
  readonly onError?: (words: string) => void;
}

/** The store in a file of this node, or for as long as this process lives. */
export async function openSqliteStore(
  path: string,
  { bytesMax = STORE_BYTES_MAX, onError }: SqliteOptions = {},
): Promise<SqliteStore> {
  const database = await openDatabase(path, bytesMax);
  return new SqliteStore(database, new SqliteReserve(`${path}.reserve`), onError);
}

export function openMemoryStore(): SqliteStore {
  return new SqliteStore(memoryDatabase());
}

/** What a change makes of the object that is there. */
type Making = (before: StoredObject | undefined) => StoredObject | 'deleted';

interface Waiting {
  readonly key: ObjectKey;
  readonly make: Making;
  readonly isDeletion: boolean;
  readonly done: PromiseWithResolvers<StoredObject>;
}

interface Made {
  readonly object: StoredObject;
  readonly change?: Change;
}

/**
 * A store on SQLite. Changes that are asked for in the same turn of the event loop share one
 * transaction, hence one sync of the disk; none of them is told of before that.
 */
export class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #history: ChangeHistory;
  readonly #sql: Statements;
  #version: number;
  readonly #waiting: Waiting[] = [];
  readonly #reserve: SqliteReserve | undefined;
  /** Of the last commit, when it failed. */
  #trouble: unknown;
  readonly #tell: (words: string) => void;
  #isClosed = false;

  constructor(database: DatabaseSync, reserve?: SqliteReserve, onError?: SqliteOptions['onError']) {
    this.#database = database;
    this.#reserve = reserve;
    this.#tell = reportingOnce(onError);
    this.#sql = statementsOf(database);
    this.#version = Number(this.#sql.version.get()?.version);
    this.#history = new ChangeHistory(this.#version);
  }

  async create(object: NewObject): Promise<StoredObject> {
    const key = keyOf(object);
    return this.#change(key, (before) => {
      if (!before) return createdObject(object, new Date());
      throw new StoreError('AlreadyExists', `${wordsOf(key)} is already there; take another name`);
    });
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    return this.#asked(() => this.#read(key));
  }

  async list(kind: KindName, namespace?: string): Promise<StoredList> {
    const { objects, resourceVersion } = await this.each(kind, namespace);
    return { items: [...objects], resourceVersion };
  }

  async each(kind: KindName, namespace?: string): Promise<StoredEach> {
    const place = namespace === undefined ? undefined : placeOf({ kind, namespace, name: '' });
    const { version, list, listIn } = this.#sql;
    this.#asked(() => version.get());
    const objects = objectsIn(
      [kind, place ?? '', ''],
      (after) => this.#asked(() => (place === undefined ? list : listIn).all(...after)),
      ({ message }) => this.#tell(message),
    );
    return { objects, resourceVersion: String(this.#version) };
  }

  async update(object: StoredObject): Promise<StoredObject> {
    return this.#change(keyOf(object), (before) =>
      updatedObject(unchanged(before, object), object),
    );
  }

  async updateStatus(object: StoredObject): Promise<StoredObject> {
    return this.#change(keyOf(object), (before) => withStatus(unchanged(before, object), object));
  }

  async delete(key: ObjectKey, resourceVersion?: string): Promise<StoredObject> {
    return this.#change(
      key,
      (before) => {
        if (!before) throw notFound(key);
        if (resourceVersion === undefined) return 'deleted';
        if (before.metadata.resourceVersion !== resourceVersion) throw conflict(key);
        return 'deleted';
      },
      true,
    );
  }

  watch(kind: KindName, version: string, stop: AbortSignal): AsyncIterable<StoreEvent> {
    return this.#history.since(kind, version, stop);
  }

  /** Why changes are not taken, as long as that is so: tried anew, for nobody else may try. */
  async writeError(): Promise<string | undefined> {
    if (this.#trouble === undefined || this.#isClosed) return undefined;
    this.#trouble = tryReserve(this.#database);
    if (this.#trouble !== undefined)
      return `the store takes no change: ${messageOf(this.#trouble)}`;
    this.#reserve?.renew();
    return undefined;
  }

  /** What was asked for and is not on disk yet is refused; those who watch see the end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#history.close();
    this.#database.close();
    for (const { done } of this.#waiting.splice(0)) done.reject(closed());
  }

  #asked<T>(read: () => T): T {
    if (this.#isClosed) throw closed();
    try {
      return read();
    } catch (error) {
      throw failureOf('the store could not be read', error);
    }
  }

  #read(key: ObjectKey, isDeletion = false): StoredObject | undefined {
    const text = this.#sql.get.get(key.kind, placeOf(key), key.name)?.text;
    if (text === undefined) return undefined;
    const object = objectOf(String(text), key);
    if (!(object instanceof StoreError)) return object;
    // What cannot be read can still be deleted.
    if (!isDeletion) throw object;
    return unreadObject(key);
  }

  #change(key: ObjectKey, make: Making, isDeletion = false): Promise<StoredObject> {
    placeOf(key);
    if (this.#isClosed) throw closed();
    if (this.#waiting.length >= CHANGES_WAITING_MAX) {
      const words = `${CHANGES_WAITING_MAX} changes wait for the disk already; try again later`;
      throw new StoreError('ServiceUnavailable', words);
    }
    if (this.#waiting.length === 0) setImmediate(() => this.#commit());
    const done = Promise.withResolvers<StoredObject>();
    this.#waiting.push({ key, make, isDeletion, done });
    return done.promise;
  }

  #commit(): void {
    const together = this.#waiting.splice(0, CHANGES_PER_COMMIT_MAX);
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
    if (together.length === 0) return;
    let error = this.#commitAll(together);
    if (isFull(error) && reuseLog(this.#database)) error = this.#commitAll(together);
    this.#trouble = error;
    if (error === undefined) return;
    const deletions = together.filter(({ isDeletion }) => isDeletion);
    const isFreed = isFull(error) && this.#deleteAll(deletions);
    for (const { key, isDeletion, done } of together) {
      if (!isFreed || !isDeletion) done.reject(this.#failureOf(error, wordsOf(key)));
    }
  }

  /** On a full disk there is room for deletions alone, which make more of it. */
  #deleteAll(deletions: readonly Waiting[]): boolean {
    if (deletions.length === 0 || !this.#reserve) return false;
    return this.#reserve.withHost(() => {
      const isDone = this.#commitAll(deletions) === undefined;
      reuseLog(this.#database);
      return isDone;
    });
  }

  #failureOf(error: unknown, what: string): Error {
    if (this.#isClosed) return closed();
    return failureOf(`the store did not take a change of ${what}, and kept nothing of it`, error);
  }

  /** One transaction, or the error with which all of it was undone. */
  #commitAll(together: readonly Waiting[]): unknown {
    const changes: Change[] = [];
    const reported: (() => void)[] = [];
    const before = this.#version;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const { done, ...asked } of together) {
        const made = this.#made(asked);
        if (made instanceof StoreError) reported.push(() => done.reject(made));
        else reported.push(() => done.resolve(made.object));
        if (!(made instanceof StoreError) && made.change) changes.push(made.change);
      }
      if (changes.length > 0) this.#sql.setVersion.run(this.#version);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#version = before;
      this.#undo();
      return error;
    }
    this.#history.add(changes);
    for (const tell of reported) tell();
    return undefined;
  }

  /** One change inside the transaction. One that is refused has written nothing. */
  #made({ key, make, isDeletion }: Omit<Waiting, 'done'>): Made | StoreError {
    try {
      const before = this.#read(key, isDeletion);
      const after = make(before);
      if (after === before) return { object: after };
      const version = this.#version + 1;
      const type = after === 'deleted' ? 'DELETED' : before ? 'MODIFIED' : 'ADDED';
      const last = after === 'deleted' ? before : after;
      if (!last) throw notFound(key);
      const object = withVersion(last, version);
      const text = textOf(object);
      const place = [key.kind, placeOf(key), key.name] as const;
      if (type === 'DELETED') this.#sql.delete.run(...place);
      else this.#sql.put.run(...place, text);
      this.#version = version;
      return { object, change: { version, type, kind: key.kind, text } };
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
  }

  #undo(): void {
    try {
      if (!this.#isClosed && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // Nobody may read what was not kept.
      this.close();
    }
  }
}

/** The object, when it is still the one that the asker knew. */
function unchanged(before: StoredObject | undefined, asked: StoredObject): StoredObject {
  const key = keyOf(asked);
  if (!before) throw notFound(key);
  const { uid, resourceVersion } = before.metadata;
  const isKnown = asked.metadata.uid === uid && asked.metadata.resourceVersion === resourceVersion;
  if (!isKnown) throw conflict(key);
  return before;
}
