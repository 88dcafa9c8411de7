import { closeSync, constants, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../std/message-of.ts';
import { LOCK_WAIT_MS } from './limits.ts';
import { DiskError, hasCode } from './state-folder.ts';

export interface KernelLock {
  readonly release: () => void;
}

/** Of SQLite: somebody else has the lock. */
const SQLITE_BUSY = 5;

/**
 * A lock of the kernel (fcntl) on a file, which ends with its holder at the latest; undefined when
 * somebody has it. Node has no call for it, but SQLite locks so whatever it has open: an empty
 * database on which a transaction is begun, to which nothing is ever written.
 *
 * The file must never be opened otherwise in this process, nor be deleted: whoever closes any
 * descriptor of it gives the lock away.
 */
export function takeKernelLock(path: string): KernelLock | undefined {
  makeUnlessThere(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
    if ((code & 0xff) === SQLITE_BUSY) return undefined;
    throw new DiskError(`${path} cannot be locked: ${messageOf(error)}`);
  }
  const taken = database;
  held.add(taken);
  const release = () => {
    if (held.delete(taken)) taken.close();
  };
  return { release };
}

/** A database that nobody remembers is closed, and its lock is gone with it. */
const held = new Set<DatabaseSync>();

/** For our eyes only. One that is there is not opened. */
function makeUnlessThere(path: string): void {
  const { O_CREAT, O_EXCL, O_RDWR } = constants;
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_RDWR, 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}
