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

/** Passes every question on, and records the answers. Of a repeated question the last answer counts. */
export class RecordingNode implements NodeReader {
  readonly #inner: NodeReader;
  readonly #answers = new Map<string, Recorded>();
  // One moment for the whole recording, so that a replay is judged as of the same moment.
  readonly #clock: Date;

  constructor(inner: NodeReader) {
    this.#inner = inner;
    this.#clock = inner.now();
  }

  get recording(): Recording {
    return { clock: this.#clock, answers: this.#answers };
  }

  now(): Date {
    return this.#clock;
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const key = keyOf(kind, question);
    try {
      const answer = await this.#inner.ask(kind, question);
      this.#answers.set(key, { answer });
      return answer;
    } catch (error) {
      if (error instanceof ReadError) {
        const { failure, detail } = error;
        this.#answers.set(key, detail === undefined ? { failure } : { failure, detail });
      }
      throw error;
    }
  }
}
