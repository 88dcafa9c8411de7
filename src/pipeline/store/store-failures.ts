import { messageOf } from '../../lib/std/message-of.ts';
import { resultCodeOf } from './sqlite-file.ts';
import { type ObjectKey, StoreError } from './store.ts';
import { wordsOf } from './stored-object.ts';

/** The words of the database; any other error is our own mistake. */
export function failureOf(what: string, error: unknown): Error {
  if (resultCodeOf(error) === undefined) return error as Error;
  const todo = 'delete what has ended, or see to the disk of --state-dir; then try again';
  return new StoreError('ServiceUnavailable', `${what}: ${messageOf(error)}; ${todo}`);
}

export function notFound(key: ObjectKey): StoreError {
  return new StoreError('NotFound', `${wordsOf(key)} is not there`);
}

export function conflict(key: ObjectKey): StoreError {
  const text = `${wordsOf(key)} was changed by somebody else; read it again, and decide anew`;
  return new StoreError('Conflict', text);
}

export function closed(): StoreError {
  return new StoreError('ServiceUnavailable', 'the store is closed; it comes back with its host');
}
