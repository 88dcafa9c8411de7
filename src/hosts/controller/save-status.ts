import type { DiagnosisSpec, DiagnosisStatus } from '../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../pipeline/api/has-ended.ts';
import { failedFor, settled } from '../../pipeline/graph/conditions.ts';
import { withResult } from '../../pipeline/graph/result-of.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';
import type { ControllerContext } from './controller-context.ts';
import { recordEvent } from './record-event.ts';

type SaveContext = Pick<ControllerContext, 'store' | 'events' | 'now' | 'onMessage'>;

/** The Diagnosis as it is now; undefined if it does not exist, is being deleted or has ended. */
export async function unfinished(
  { store }: Pick<ControllerContext, 'store'>,
  key: string,
): Promise<StoredObject | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const object = await store.get({ kind: 'Diagnosis', namespace, name });
  const isLeft = !object || object.metadata.deletionTimestamp || hasEnded(statusOf(object).phase);
  return isLeft ? undefined : object;
}

export function statusOf({ status = {} }: Pick<StoredObject, 'status'>): DiagnosisStatus {
  return status;
}

/** Rejects with `Conflict` if another writer was first. The end of a Diagnosis is an Event, too. */
export async function saveStatus(
  context: SaveContext,
  object: StoredObject,
  decided: DiagnosisStatus,
): Promise<StoredObject> {
  const { store, now } = context;
  const { metadata, spec } = object;
  const whole = (given: DiagnosisStatus) => {
    const status = hasEnded(given.phase) ? settled(given, spec as DiagnosisSpec, now()) : given;
    const observedGeneration = metadata.generation;
    return { ...object, status: withResult(spec, { ...status, observedGeneration }) };
  };
  if (!hasEnded(decided.phase)) return store.updateStatus(whole(decided));
  const answer = await answerOf(store.updateStatus(whole(decided)));
  if (answer.ok) {
    await recordEnd(context, answer.value);
    return answer.value;
  }
  const { reason, message } = answer.error;
  if (reason !== 'RequestEntityTooLarge' && reason !== 'Invalid') throw answer.error;
  // A status without space for one more condition must still end.
  const { startTime = '', checkpoint, conditions } = decided;
  const why = `${conditions?.at(-1)?.message}; the complete status was refused: ${message}`;
  const bare = { startTime, ...(checkpoint ? { checkpoint } : {}) };
  const ended = await store.updateStatus(whole(failedFor(bare, 'SyncDiagnosisFailed', now(), why)));
  await recordEnd(context, ended);
  return ended;
}

async function recordEnd(context: SaveContext, object: StoredObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, uid } = metadata;
  const { conditions = [] } = statusOf(object);
  const ending = conditions.find(({ type }) => type === 'Failed') ?? conditions.at(-1);
  const { reason = 'Failed', message = '' } = ending ?? {};
  context.onMessage(`Diagnosis ${namespace}/${name}: ended as Failed: ${message}`);
  const regarding = { apiVersion, kind, namespace, name, uid };
  const event = { type: 'Warning', reason, action: 'EndDiagnosis', note: message } as const;
  await recordEvent(context, { ...event, regarding });
}
