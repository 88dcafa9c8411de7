import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
} from '../../src/node/model/node-reader.ts';

/**
 * A made-up node for the whole of a check, put together from nodes that were made for one fault each.
 * Who is asked first answers; what nobody knows does not exist there.
 */
export class LayeredNode implements NodeReader {
  readonly #layers: readonly NodeReader[];

  constructor(layers: readonly NodeReader[]) {
    this.#layers = layers;
  }

  now(): Date {
    const [first] = this.#layers;
    if (!first) throw new Error('a node of no layers has no clock');
    return first.now();
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    for (const layer of this.#layers) {
      try {
        return await layer.ask(kind, question);
      } catch (error) {
        if (!(error instanceof ReadError && error.failure === 'not-recorded')) throw error;
      }
    }
    throw new ReadError('missing', sourceOf(question));
  }
}
