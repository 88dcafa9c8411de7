import type {
  Answer,
  NodeReader,
  Question,
  QuestionKind,
} from '../../src/node/model/node-reader.ts';

/** A node whose kubelet has ended: what is asked of the first process was made for the kubelet's. */
export class SeenByInit implements NodeReader {
  readonly #node: NodeReader;

  constructor(node: NodeReader) {
    this.#node = node;
  }

  now(): Date {
    return this.#node.now();
  }

  ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const asked: Question<QuestionKind> = question;
    if (!('path' in asked)) return this.#node.ask(kind, question);
    const path = asked.path.replace(/^\/proc\/1\//, '/proc/812/');
    return this.#node.ask(kind, { ...question, path });
  }
}
