import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
} from '../../src/node/model/node-reader.ts';

/** What Linux shows of other people's processes to everybody: names and numbers. */
const OPEN = /^\/proc(\/\d+\/(comm|cmdline|status|cgroup|stat)|\/sys\/kernel\/\w+)?$/;

/** A node as somebody sees it who is not root. */
export class DeniedNode implements NodeReader {
  readonly #node: NodeReader;

  constructor(node: NodeReader) {
    this.#node = node;
  }

  now(): Date {
    return this.#node.now();
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const asked: Question<QuestionKind> = question;
    // The port that asks for no credentials is closed on most nodes.
    if ('port' in asked) throw new ReadError('refused', sourceOf(question));
    const isOpen = 'path' in asked && (OPEN.test(asked.path) || kind === 'status');
    if (isOpen) return this.#node.ask(kind, question);
    throw new ReadError('denied', sourceOf(question));
  }
}
