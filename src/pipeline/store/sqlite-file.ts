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

/** "KDst", in the place where a database of SQLite says whose it is. */
const APPLICATION_ID = 0x4b447374;
/** Of the tables below. A newer one was written by a newer version of us. */
const SCHEMA_VERSION = 1;

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

/** A file that we do not use: what is wrong with it, and what to do. It is left as it is. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

/** A store that ends with this process. */
export function memoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA);
  return database;
}

/** Opens the database of a store, and makes it when there is none. One process at a time has it. */
export async function openDatabase(path: string, bytesMax: number): Promise<DatabaseSync> {
  let database: DatabaseSync | undefined;
  try {
    await prepareFolder(dirname(path));
    if (!existsSync(path)) await makeDatabase(path);
    const { sizeBytes } = refuseForeign(path);
    database = new DatabaseSync(path, { timeout: 0 });
    // Held until the end: what others wrote beside us nobody would watch.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; ROLLBACK');
    database.exec('PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216');
    database.exec(
      `PRAGMA max_page_count = ${Math.floor(bytesMax / pragma(database, 'page_size'))}`,
    );
    refuseNewer(database, path);
    if (sizeBytes <= CHECKED_AT_START_BYTES_MAX) refuseDamaged(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof StoreFileError ? error : refusal(path, error);
  }
}

/** Under another name until it is whole: a store is there, or it is not. */
async function makeDatabase(path: string): Promise<void> {
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

/** Looks into the file before SQLite does, which would repair what is not ours to repair. */
function refuseForeign(path: string): { readonly sizeBytes: number } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const header = Buffer.alloc(100);
    const status = fstatSync(file);
    const length = status.isFile() ? readSync(file, header, 0, header.length, 0) : 0;
    const isDatabase = length === 100 && header.subarray(0, 15).equals(MAGIC);
    if (!isDatabase || header.readUInt32BE(68) !== APPLICATION_ID) {
      throw new StoreFileError(
        `${path} is not used: it is no store of ours (its first bytes say so), or it is damaged; ` +
          'move it elsewhere, or choose another --state-dir',
      );
    }
    if ((status.mode & 0o077) !== 0) fchmodSync(file, 0o600);
    return { sizeBytes: status.size };
  } finally {
    closeSync(file);
  }
}

const MAGIC = Buffer.from('SQLite format 3');

function refuseNewer(database: DatabaseSync, path: string): void {
  const version = pragma(database, 'user_version');
  if (version === SCHEMA_VERSION) return;
  throw new StoreFileError(
    `${path} is not used: its form is number ${version}, and this version of kubediag knows ${SCHEMA_VERSION}; ` +
      'use the version that wrote it, or move the file elsewhere to begin with an empty store',
  );
}

function refuseDamaged(database: DatabaseSync, path: string): void {
  const found = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
  if (found !== 'ok') throw damaged(path, String(found));
}

function refusal(path: string, error: unknown): StoreFileError {
  const code = resultCodeOf(error);
  if (error instanceof Error && 'code' in error && error.code === 'ELOOP') {
    return new StoreFileError(
      `${path} is a symbolic link: the store is not read through links; ` +
        'move the file itself there, or choose another --state-dir',
    );
  }
  // SQLITE_BUSY
  if (code === 5) {
    return new StoreFileError(
      `${path} is in use: another kubediag has it open; end that one, or choose another --state-dir`,
    );
  }
  // SQLITE_CORRUPT, SQLITE_NOTADB
  if (code === 11 || code === 26) return damaged(path, messageOf(error));
  const { why, todo } = adviceOn(asErrorOfDisk(error)) ?? {
    why: messageOf(error),
    todo: 'see to that file, or choose another --state-dir',
  };
  return new StoreFileError(`${path} cannot be opened: ${why.replace(`${path}: `, '')}; ${todo}`);
}

/** By the number of SQLite's error: PERM, READONLY, IOERR, FULL. */
const CODES: Readonly<Record<number, string>> = {
  3: 'EACCES',
  8: 'EROFS',
  10: 'EIO',
  13: 'ENOSPC',
};

/** SQLite tells what the disk answered in numbers of its own. */
function asErrorOfDisk(error: unknown): unknown {
  const code = CODES[resultCodeOf(error) ?? -1];
  return code === undefined ? error : Object.assign(new Error(code), { code, syscall: 'open' });
}

function damaged(path: string, why: string): StoreFileError {
  return new StoreFileError(
    `${path} is damaged and is not used: ${why.split('\n')[0]}; it was left as it is: ` +
      'put back a copy, or move it elsewhere (with its -wal) to begin with an empty store',
  );
}

/** What SQLite calls the error, without its finer points. */
export function resultCodeOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** SQLITE_FULL: the disk has no room, or the store as much as it may have. */
export function isFull(error: unknown): boolean {
  return resultCodeOf(error) === 13;
}

/**
 * Puts into the file what is in the log only, so that the log is written from its beginning: it needs
 * no more of the disk then. SQLite does so by itself too, but not when the disk is full before that.
 */
export function reuseLog(database: DatabaseSync): boolean {
  try {
    return database.prepare(TO_FILE).get()?.busy === 0;
  } catch {
    return false;
  }
}

const TO_FILE = 'PRAGMA wal_checkpoint(RESTART)';

/** The error, when there is still no room for an object. It leaves nothing behind. */
export function tryReserve(database: DatabaseSync): unknown {
  reuseLog(database);
  const remove = "DELETE FROM objects WHERE kind = ''";
  try {
    // Removed in a change of its own: what comes and goes within one is never written.
    database.exec(`BEGIN IMMEDIATE; ${remove};
      INSERT INTO objects VALUES ('', '', '', hex(zeroblob(${OBJECT_BYTES_MAX / 2})));
      COMMIT; ${remove}`);
    // Room in the log alone would be used up by the next change.
    database.prepare(TO_FILE).get();
    return undefined;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    return error;
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}
