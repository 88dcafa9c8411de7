import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
} from './node-reader.ts';
import { keyOf, type Recorded, type Recording } from './recording.ts';

/** Passes every question on, and keeps what was answered. A repeated question keeps its last answer. */
export class RecordingNode implements NodeReader {
  readonly #inner: NodeReader;
  readonly #answers = new Map<string, Recorded>();

  constructor(inner: NodeReader) {
    this.#inner = inner;
  }

  get recording(): Recording {
    return { clock: this.#inner.now(), answers: this.#answers };
  }

  now(): Date {
    return this.#inner.now();
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
