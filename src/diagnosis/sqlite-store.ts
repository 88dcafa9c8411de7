import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { KindName } from '../api/kinds.ts';
import { messageOf } from '../std/message-of.ts';
import { type Change, ChangeHistory } from './change-history.ts';
import {
  CHANGES_PER_COMMIT_MAX,
  CHANGES_WAITING_MAX,
  ROWS_PER_PAGE,
  STORE_BYTES_MAX,
} from './limits.ts';
import { memoryDatabase, openDatabase, resultCodeOf } from './sqlite-file.ts';
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
import {
  createdObject,
  keyOf,
  placeOf,
  textOf,
  updatedObject,
  withStatus,
  withVersion,
  wordsOf,
} from './stored-object.ts';

/** The store in a file of this node, or for as long as this process lives. */
export async function openSqliteStore(
  path: string,
  { bytesMax = STORE_BYTES_MAX } = {},
): Promise<SqliteStore> {
  return new SqliteStore(await openDatabase(path, bytesMax));
}

export function openMemoryStore(): SqliteStore {
  return new SqliteStore(memoryDatabase());
}

/** What a change makes of the object that is there. */
type Making = (before: StoredObject | undefined) => StoredObject | 'deleted';

interface Waiting {
  readonly key: ObjectKey;
  readonly make: Making;
  readonly done: PromiseWithResolvers<StoredObject>;
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
  #isClosed = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
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
    this.#asked(() => this.#sql.version.get());
    return { objects: this.#pages(kind, place), resourceVersion: String(this.#version) };
  }

  /** A few at a time: whoever is slow to look at them holds no more of them. */
  *#pages(kind: KindName, place: string | undefined): Generator<StoredObject> {
    let last = { namespace: place ?? '', name: '' };
    for (;;) {
      const after = [kind, last.namespace, last.name] as const;
      const { list, listIn } = this.#sql;
      const rows = this.#asked(() => (place === undefined ? list : listIn).all(...after));
      for (const { text } of rows) yield JSON.parse(String(text)) as StoredObject;
      const { namespace, name } = rows.at(-1) ?? {};
      if (rows.length < ROWS_PER_PAGE) return;
      last = { namespace: String(namespace), name: String(name) };
    }
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
    return this.#change(key, (before) => {
      if (!before) throw notFound(key);
      if (resourceVersion === undefined) return 'deleted';
      if (before.metadata.resourceVersion !== resourceVersion) throw conflict(key);
      return 'deleted';
    });
  }

  watch(kind: KindName, version: string, stop: AbortSignal): AsyncIterable<StoreEvent> {
    return this.#history.since(kind, version, stop);
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

  #read(key: ObjectKey): StoredObject | undefined {
    const text = this.#sql.get.get(key.kind, placeOf(key), key.name)?.text;
    return text === undefined ? undefined : (JSON.parse(String(text)) as StoredObject);
  }

  #change(key: ObjectKey, make: Making): Promise<StoredObject> {
    placeOf(key);
    if (this.#isClosed) throw closed();
    if (this.#waiting.length >= CHANGES_WAITING_MAX) {
      const words = `${CHANGES_WAITING_MAX} changes wait for the disk already; try again later`;
      throw new StoreError('ServiceUnavailable', words);
    }
    if (this.#waiting.length === 0) setImmediate(() => this.#commit());
    const done = Promise.withResolvers<StoredObject>();
    this.#waiting.push({ key, make, done });
    return done.promise;
  }

  #commit(): void {
    const together = this.#waiting.splice(0, CHANGES_PER_COMMIT_MAX);
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
    if (together.length === 0) return;
    const changes: Change[] = [];
    const told: (() => void)[] = [];
    const before = this.#version;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const { key, make, done } of together) {
        const made = this.#made(key, make);
        if (made instanceof StoreError) told.push(() => done.reject(made));
        else told.push(() => done.resolve(made.object));
        if (!(made instanceof StoreError) && made.change) changes.push(made.change);
      }
      if (changes.length > 0) this.#sql.setVersion.run(this.#version);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#version = before;
      const failure = this.#undone(error);
      for (const { done } of together) done.reject(failure);
      return;
    }
    this.#history.add(changes);
    for (const tell of told) tell();
  }

  /** One change inside the transaction. One that is refused has written nothing. */
  #made(
    key: ObjectKey,
    make: Making,
  ): StoreError | { readonly object: StoredObject; readonly change?: Change } {
    try {
      const before = this.#read(key);
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

  #undone(error: unknown): Error {
    if (this.#isClosed) return closed();
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // Nobody may read what was not kept.
      this.close();
    }
    return failureOf('the store did not take the change, and nothing of it was kept', error);
  }
}

type Statements = Readonly<
  Record<'get' | 'list' | 'listIn' | 'put' | 'delete' | 'version' | 'setVersion', StatementSync>
>;

function statementsOf(database: DatabaseSync): Statements {
  return {
    get: database.prepare('SELECT text FROM objects WHERE kind = ? AND namespace = ? AND name = ?'),
    list: database.prepare(
      `SELECT namespace, name, text FROM objects WHERE kind = ? AND (namespace, name) > (?, ?)
       ORDER BY namespace, name LIMIT ${ROWS_PER_PAGE}`,
    ),
    listIn: database.prepare(
      `SELECT namespace, name, text FROM objects WHERE kind = ? AND namespace = ? AND name > ?
       ORDER BY name LIMIT ${ROWS_PER_PAGE}`,
    ),
    put: database.prepare(
      'INSERT INTO objects VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text',
    ),
    delete: database.prepare('DELETE FROM objects WHERE kind = ? AND namespace = ? AND name = ?'),
    version: database.prepare('SELECT version FROM last_change'),
    setVersion: database.prepare('UPDATE last_change SET version = ?'),
  };
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

/** The words of the database; any other error is our own mistake. */
function failureOf(what: string, error: unknown): Error {
  if (resultCodeOf(error) === undefined) return error as Error;
  const todo = 'see to the disk of --state-dir, and delete what has ended; then try again';
  return new StoreError('ServiceUnavailable', `${what}: ${messageOf(error)}; ${todo}`);
}

function notFound(key: ObjectKey): StoreError {
  return new StoreError('NotFound', `${wordsOf(key)} is not there`);
}

function conflict(key: ObjectKey): StoreError {
  const words = `${wordsOf(key)} was changed by somebody else; read it again, and decide anew`;
  return new StoreError('Conflict', words);
}

function closed(): StoreError {
  return new StoreError('ServiceUnavailable', 'the store is closed; it comes back with its host');
}
