import type { Answer, Question, QuestionKind, ReadFailure } from '../model/node-reader.ts';

/** What one question was answered: the answer, or how it failed. */
export type Recorded<K extends QuestionKind = QuestionKind> =
  | { readonly answer: Answer<K> }
  | { readonly failure: ReadFailure; readonly detail?: string };

/** Questions and answers of one check of a node, and the time of it. */
export interface Recording {
  readonly clock: Date;
  readonly answers: ReadonlyMap<string, Recorded>;
}

/**
 * The same question has the same key, whatever the order in which its parts were written. The search
 * strings of a log are not part of the key, so old recordings work with new signatures.
 */
export function keyOf<K extends QuestionKind>(kind: K, question: Question<K>): string {
  const asked = 'log' in question ? { ...question, containing: [] } : question;
  const parts = Object.entries(asked).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([kind, Object.fromEntries(parts)]);
}

export function questionOf(key: string): { kind: QuestionKind; question: Question<QuestionKind> } {
  const [kind, question] = JSON.parse(key) as [QuestionKind, Question<QuestionKind>];
  return { kind, question };
}
