import { messageOf } from '../../lib/std/message-of.ts';
import type { ObjectKey } from '../store/store.ts';
import { patiently } from '../store/store-answer.ts';
import { wordsOf } from '../store/stored-object.ts';
import type { Driven } from './drive-diagnosis.ts';
import { type DriverContext, patienceOf } from './driver-environment.ts';
import { bareFailure } from './store-result.ts';
import { hasEnded } from './time-left.ts';

/** A mistake of ours ends the one Diagnosis that it was made with, and is told; it is no loop. */
export async function failInvalid(
  { uid, ...key }: ObjectKey & { readonly uid: string },
  mistake: unknown,
  context: DriverContext,
): Promise<Driven> {
  const { store, onError, now = () => new Date() } = context;
  const message = messageOf(mistake);
  onError?.(`${wordsOf(key)} broke off by a mistake in kubediag: ${message}`);
  const found = await patiently(() => store.get(key), patienceOf(context));
  if (!found.ok) return { state: 'interrupted' };
  const object = found.value;
  if (object?.metadata.uid !== uid) return { state: 'gone' };
  if (hasEnded(object)) return { state: 'ended', object };
  const text = `a mistake in kubediag: ${message}; report this`;
  const broken = { ...object, status: bareFailure(object, now(), text) };
  const ended = await patiently(() => store.updateStatus(broken), patienceOf(context));
  return ended.ok ? { state: 'ended', object: ended.value } : { state: 'interrupted' };
}
