import { cutSentence } from '../../lib/std/cut-sentence.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { timeText } from '../graph/conditions.ts';
import { STEP_MESSAGE_CHARACTERS_MAX } from '../graph/limits.ts';
import type { Retry } from '../operations/run-http.ts';
import type { StoredObject } from '../store/store.ts';
import { answerOf } from '../store/store-answer.ts';
import { keyOf } from '../store/stored-object.ts';
import type { DriverContext } from './driver-environment.ts';
import { isAtSameStep } from './store-result.ts';

/**
 * Writes into status.currentStep that a server could not be reached, and when it is asked again. Only
 * who watches needs it: a write that fails, or that comes too late, is left out.
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
  const tried = {
    attempts,
    nextAttemptTime: timeText(nextAt),
    message: cutSentence(why, STEP_MESSAGE_CHARACTERS_MAX),
  };
  const status = { ...rest, currentStep: { ...currentStep, ...tried } };
  const written = await answerOf(store.updateStatus({ ...object, status }));
  if (written.ok) onSaved?.(written.value);
}
