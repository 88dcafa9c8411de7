import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { adviceOn, prepareFolder, syncFolder } from '../../lib/state/state-folder.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { CHECKED_AT_START_BYTES_MAX, OBJECT_BYTES_MAX } from './limits.ts';
import { migrate, SCHEMA_VERSION } from './sqlite-migrate.ts';

/** "KDst", where the header of an SQLite database names its application. */
const APPLICATION_ID = 0x4b447374;

const SCHEMA = `
  CREATE TABLE objects (
    kind TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (kind, namespace, name)
  ) STRICT;
  CREATE TABLE last_change (version INTEGER NOT NULL) STRICT;
  INSERT INTO last_change VALUES (0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** A file that cannot be used and is left unchanged. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
  readonly why: string;
  readonly todo: string;

  constructor(why: string, todo: string) {
    super(`${why}; ${todo}`);
    this.why = why;
    this.todo = todo;
  }
}

export function memoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA);
  return database;
}

/** Opens the database of a store for this process alone; creates or migrates it first if necessary. */
export async function openDatabase(path: string, bytesMax: number): Promise<DatabaseSync> {
  let database: DatabaseSync | undefined;
  try {
    await prepareFolder(dirname(path));
    if (!existsSync(path)) await createDatabase(path);
    const { sizeBytes } = requireOwn(path);
    database = new DatabaseSync(path, { timeout: 0 });
    // Locked until the end: watches would miss the writes of another process.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK');
    database.exec('PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216');
    const version = requireKnown(database, path);
    if (sizeBytes <= CHECKED_AT_START_BYTES_MAX) {
      const found = pragma(database, 'quick_check(1)');
      if (found !== 'ok') throw damaged(path, String(found));
    }
    if (version < SCHEMA_VERSION) migrate(database, version);
    // After the migration, which must succeed on a full store too.
    database.exec(
      `PRAGMA max_page_count = ${Math.floor(bytesMax / Number(pragma(database, 'page_size')))}`,
    );
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof StoreFileError ? error : fileErrorOf(path, error);
  }
}

/** Under another name until it is complete, so that a crash leaves no half-made store. */
async function createDatabase(path: string): Promise<void> {
  const unfinished = `${path}.new`;
  for (const rest of ['', '-wal', '-journal']) rmSync(`${unfinished}${rest}`, { force: true });
  const { O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW } = constants;
  closeSync(openSync(unfinished, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600));
  const database = new DatabaseSync(unfinished);
  database.exec(`PRAGMA synchronous = FULL; BEGIN; ${SCHEMA} COMMIT; PRAGMA journal_mode = WAL`);
  database.close();
  renameSync(unfinished, path);
  await syncFolder(dirname(path));
}

/** Reads the header before SQLite opens the file: SQLite would try to repair a foreign one. */
function requireOwn(path: string): { readonly sizeBytes: number } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const header = Buffer.alloc(100);
    const status = fstatSync(file);
    const length = status.isFile() ? readSync(file, header, 0, header.length, 0) : 0;
    const isDatabase = length === 100 && header.subarray(0, 15).equals(MAGIC);
    if (!isDatabase || header.readUInt32BE(68) !== APPLICATION_ID) {
      throw new StoreFileError(
        `${path}: not a kubediag store, or its header is damaged`,
        'move the file elsewhere, or choose another --state-dir',
      );
    }
    if ((status.mode & 0o077) !== 0) fchmodSync(file, 0o600);
    return { sizeBytes: status.size };
  } finally {
    closeSync(file);
  }
}

const MAGIC = Buffer.from('SQLite format 3');

function requireKnown(database: DatabaseSync, path: string): number {
  const version = Number(pragma(database, 'user_version'));
  if (version >= 1 && version <= SCHEMA_VERSION) return version;
  throw new StoreFileError(
    `${path}: schema version ${version}, and this kubediag supports versions up to ${SCHEMA_VERSION}`,
    'use the kubediag that wrote it, or move the file elsewhere to start with an empty store',
  );
}

function fileErrorOf(path: string, error: unknown): StoreFileError {
  const code = resultCodeOf(error);
  if (error instanceof Error && 'code' in error && error.code === 'ELOOP') {
    return new StoreFileError(
      `${path}: a symbolic link`,
      'put the file itself there, or choose another --state-dir',
    );
  }
  // SQLITE_BUSY
  if (code === 5) {
    return new StoreFileError(
      `${path}: in use by another kubediag`,
      'stop that one, or choose another --state-dir',
    );
  }
  // SQLITE_CORRUPT, SQLITE_NOTADB
  if (code === 11 || code === 26) return damaged(path, messageOf(error));
  const { why, todo } = adviceOn(asDiskError(error)) ?? {
    why: messageOf(error),
    todo: 'check that file, or choose another --state-dir',
  };
  return new StoreFileError(`${path}: cannot be opened: ${why.replace(`${path}: `, '')}`, todo);
}

/** The result codes PERM, READONLY, IOERR and FULL of SQLite. */
const CODES: Readonly<Record<number, string>> = {
  3: 'EACCES',
  8: 'EROFS',
  10: 'EIO',
  13: 'ENOSPC',
};

/** SQLite translates errors of the kernel into codes of its own. */
function asDiskError(error: unknown): unknown {
  const code = CODES[resultCodeOf(error) ?? -1];
  return code === undefined ? error : Object.assign(new Error(code), { code, syscall: 'open' });
}

function damaged(path: string, why: string): StoreFileError {
  return new StoreFileError(
    `${path}: damaged: ${why.split('\n')[0]}`,
    'nothing was changed: restore a copy, or move it elsewhere (with its -wal) to start with an empty store',
  );
}

/** The primary result code of an error of SQLite. */
export function resultCodeOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** SQLITE_FULL: the disk is full, or the store has reached its limit. */
export function isFull(error: unknown): boolean {
  return resultCodeOf(error) === 13;
}

/**
 * Copies the log into the file, so that the next writes reuse the space of the log. SQLite does the
 * same from time to time, but not any more once the disk is full.
 */
export function reuseLog(database: DatabaseSync): boolean {
  try {
    return database.prepare(TO_FILE).get()?.busy === 0;
  } catch {
    return false;
  }
}

const TO_FILE = 'PRAGMA wal_checkpoint(RESTART)';

/** Writes and removes an object of the largest size, and gives the error if that fails. */
export function tryReserve(database: DatabaseSync): unknown {
  reuseLog(database);
  const remove = "DELETE FROM objects WHERE kind = ''";
  try {
    // Removed in a second transaction: SQLite would write nothing for both in one.
    database.exec(`BEGIN IMMEDIATE; ${remove};
      INSERT INTO objects VALUES ('', '', '', hex(zeroblob(${OBJECT_BYTES_MAX / 2})));
      COMMIT; ${remove}`);
    // Space in the log alone would be gone after the next write.
    database.prepare(TO_FILE).get();
    return undefined;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    return error;
  }
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}
