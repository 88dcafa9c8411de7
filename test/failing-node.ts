import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  type ReadFailure,
  sourceOf,
} from '../src/node/model/node-reader.ts';
import { keyOf } from '../src/node/recording/recording.ts';

/** Fails the selected questions, and passes the others on. For anomaly tests. */
export class FailingNode implements NodeReader {
  readonly #inner: NodeReader;
  readonly #fails: (key: string, count: number) => boolean;
  readonly #failure: ReadFailure;
  /** The keys of all questions asked, in order. */
  readonly asked: string[] = [];

  constructor(
    inner: NodeReader,
    fails: (key: string, count: number) => boolean,
    failure: ReadFailure = 'timeout',
  ) {
    this.#inner = inner;
    this.#fails = fails;
    this.#failure = failure;
  }

  now(): Date {
    return this.#inner.now();
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const key = keyOf(kind, question);
    this.asked.push(key);
    if (this.#fails(key, this.asked.length)) {
      throw new ReadError(this.#failure, sourceOf(question), 'failed on purpose');
    }
    return this.#inner.ask(kind, question);
  }
}
