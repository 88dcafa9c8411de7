import { messageOf } from '../../lib/std/message-of.ts';
import { resultCodeOf } from './sqlite-file.ts';
import type { ObjectKey } from './store.ts';
import { StoreError } from './store-error.ts';
import { nameOf } from './stored-object.ts';

/** An error of SQLite as one of the store; any other error is a defect. */
export function unavailable(what: string, error: unknown): Error {
  if (resultCodeOf(error) === undefined) return error as Error;
  const advice = 'delete ended Diagnoses or free space on the disk of --state-dir, then try again';
  return new StoreError('ServiceUnavailable', `${what}: ${messageOf(error)}; ${advice}`);
}

export function notFound(key: ObjectKey): StoreError {
  return new StoreError('NotFound', `${nameOf(key)}: not found`);
}

export function conflict(key: ObjectKey): StoreError {
  const message = 'the object has been modified; get it again and apply the change to that';
  return new StoreError('Conflict', `${nameOf(key)}: ${message}`);
}

export function closed(): StoreError {
  return new StoreError('ServiceUnavailable', 'the store is closed: kubediag is shutting down');
}
