import type { RedactionRules } from '../model/redaction.ts';
import { questionOf, type Recorded } from '../recording/recording.ts';
import { redactAnswer, redactDetail } from './redact.ts';

/** Recorded answers and failures in a form that may leave the node. */
export function redactAnswers(
  answers: ReadonlyMap<string, Recorded>,
  rules: RedactionRules,
): ReadonlyMap<string, Recorded> {
  const safe = new Map<string, Recorded>();
  for (const [key, recorded] of answers) {
    const { kind, question } = questionOf(key);
    if ('answer' in recorded) {
      safe.set(key, { answer: redactAnswer(kind, question, recorded.answer, rules) });
    } else {
      const { failure, detail } = recorded;
      safe.set(
        key,
        detail === undefined ? { failure } : { failure, detail: redactDetail(failure, detail) },
      );
    }
  }
  return safe;
}
