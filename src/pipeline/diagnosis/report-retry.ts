import { cutSentence } from '../../lib/std/cut-sentence.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { timeText } from '../graph/conditions.ts';
import { STEP_MESSAGE_CHARACTERS_MAX } from '../graph/limits.ts';
import type { Retry } from '../operations/run-http.ts';
import type { StoredObject } from '../store/store.ts';
import { answerOf } from '../store/store-answer.ts';
import { keyOf } from '../store/stored-object.ts';
import type { DriverContext } from './driver-context.ts';
import { isAtSameStep } from './store-result.ts';

/**
 * Writes to status.currentStep that a server could not be reached and when the next attempt is. It is
 * for readers only: a write that fails or comes too late is dropped.
 */
export async function reportRetry(
  begun: StoredObject,
  { attempts, why, nextAt }: Retry,
  { store, onSaved }: Pick<DriverContext, 'store' | 'onSaved'>,
): Promise<void> {
  const found = await answerOf(store.get(keyOf(begun)));
  const object = found.ok ? found.value : undefined;
  if (object?.metadata.uid !== begun.metadata.uid || !isAtSameStep(begun, object)) return;
  const { currentStep, ...rest } = (object.status ?? {}) as DiagnosisStatus;
  if (!currentStep) return;
  const attempt = {
    attempts,
    nextAttemptTime: timeText(nextAt),
    message: cutSentence(why, STEP_MESSAGE_CHARACTERS_MAX),
  };
  const status = { ...rest, currentStep: { ...currentStep, ...attempt } };
  const written = await answerOf(store.updateStatus({ ...object, status }));
  if (written.ok) onSaved?.(written.value);
}
