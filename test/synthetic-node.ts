import type { SnapshotOptions } from '../src/node/model/evidence.ts';
import type { Question, QuestionKind } from '../src/node/model/node-reader.ts';
import { RecordedNode } from '../src/node/recording/recorded-node.ts';
import { keyOf, type Recorded } from '../src/node/recording/recording.ts';

/** A node made up for a test, question by question; whatever is not set is not recorded. */
export class NodeMaker {
  readonly answers = new Map<string, Recorded>();
  clock = new Date('2026-01-02T03:04:05Z');
  settings: SnapshotOptions = {};

  set<K extends QuestionKind>(kind: K, question: Question<K>, recorded: Recorded<K>): this {
    this.answers.set(keyOf(kind, question), recorded);
    return this;
  }

  file(path: string, answer: string): this {
    return this.set('file', { path }, { answer });
  }

  folder(path: string, answer: readonly string[]): this {
    return this.set('folder', { path }, { answer });
  }

  link(path: string, answer: string): this {
    return this.set('link', { path }, { answer });
  }

  missing(kind: 'file' | 'folder' | 'link' | 'status', path: string): this {
    return this.set(kind, { path }, { failure: 'missing' });
  }

  build(): RecordedNode {
    return new RecordedNode({ clock: this.clock, answers: this.answers });
  }
}

/** Synthetic nodes by the names of their fixtures. */
export type SyntheticNodes = Readonly<Record<string, NodeMaker>>;

/** The nodes that descriptions of one kind describe. */
export function syntheticNodes<T>(
  described: Readonly<Record<string, T>>,
  make: (description: T) => NodeMaker,
): SyntheticNodes {
  const made = Object.entries(described).map(([name, each]) => [name, make(each)] as const);
  return Object.fromEntries(made);
}

export function nodeNamed(name: string, nodes: SyntheticNodes): NodeMaker {
  const maker = nodes[name];
  if (!maker) throw new Error(`there is no synthetic node ${name}`);
  return maker;
}
