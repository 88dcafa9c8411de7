import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
} from '../model/node-reader.ts';
import { keyOf, type Recorded, type Recording } from './recording.ts';

/** A node as it was when recorded. What was not asked then is not known now. */
export class RecordedNode implements NodeReader {
  readonly #recording: Recording;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  now(): Date {
    return this.#recording.clock;
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const source = sourceOf(question);
    const recorded: Recorded<K> | undefined = this.#recording.answers.get(keyOf(kind, question));
    if (!recorded) throw new ReadError('not-recorded', source);
    if ('failure' in recorded) throw new ReadError(recorded.failure, source, recorded.detail);
    return recorded.answer;
  }
}
