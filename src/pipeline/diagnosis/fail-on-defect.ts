import { messageOf } from '../../lib/std/message-of.ts';
import type { ObjectKey } from '../store/store.ts';
import { retried } from '../store/store-answer.ts';
import { nameOf } from '../store/stored-object.ts';
import type { Driven } from './drive-diagnosis.ts';
import { type DriverContext, retryOptionsOf } from './driver-context.ts';
import { bareFailure } from './store-result.ts';
import { hasEnded } from './time-left.ts';

/** Ends the Diagnosis that a defect of ours was met with: the others go on, and it is not tried again. */
export async function failOnDefect(
  { uid, ...key }: ObjectKey & { readonly uid: string },
  defect: unknown,
  context: DriverContext,
): Promise<Driven> {
  const { store, onSaved, onError, now = () => new Date() } = context;
  const message = `defect in kubediag, please report it: ${messageOf(defect)}`;
  onError?.(`${nameOf(key)}: ${message}`);
  const found = await retried(() => store.get(key), retryOptionsOf(context));
  if (!found.ok) return { state: 'interrupted' };
  const object = found.value;
  if (object?.metadata.uid !== uid) return { state: 'gone' };
  if (hasEnded(object)) return { state: 'ended', object };
  const failed = { ...object, status: bareFailure(object, now(), message) };
  const ended = await retried(() => store.updateStatus(failed), retryOptionsOf(context));
  if (!ended.ok) return { state: 'interrupted' };
  onSaved?.(ended.value);
  return { state: 'ended', object: ended.value };
}
