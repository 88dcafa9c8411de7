import { messageOf } from '../../lib/std/message-of.ts';
import type { ObjectKey } from '../store/store.ts';
import { patiently } from '../store/store-answer.ts';
import { wordsOf } from '../store/stored-object.ts';
import type { Driven } from './drive-diagnosis.ts';
import { type DriveWorld, patienceOf } from './drive-world.ts';
import { bareFailure } from './keep-result.ts';
import { hasEnded } from './time-left.ts';

/** A mistake of ours ends the one Diagnosis that it was made with, and is told; it is no loop. */
export async function endBroken(
  { uid, ...key }: ObjectKey & { readonly uid: string },
  mistake: unknown,
  world: DriveWorld,
): Promise<Driven> {
  const { store, onTrouble, now = () => new Date() } = world;
  const message = messageOf(mistake);
  onTrouble?.(`${wordsOf(key)} broke off by a mistake in kubediag: ${message}`);
  const found = await patiently(() => store.get(key), patienceOf(world));
  if (!found.ok) return { state: 'interrupted' };
  const object = found.value;
  if (object?.metadata.uid !== uid) return { state: 'gone' };
  if (hasEnded(object)) return { state: 'ended', object };
  const words = `a mistake in kubediag: ${message}; report this`;
  const broken = { ...object, status: bareFailure(object, now(), words) };
  const ended = await patiently(() => store.updateStatus(broken), patienceOf(world));
  return ended.ok ? { state: 'ended', object: ended.value } : { state: 'interrupted' };
}
