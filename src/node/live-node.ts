import { READERS_ABANDONED_MAX, READERS_DEAD_MAX } from './limits.ts';
import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
} from './node-reader.ts';
import { type ReaderCommand, ReaderProcess, type Waiting } from './reader-process.ts';
import type { ReaderSettings } from './reader-protocol.ts';

/** A reader that we had to leave behind, named so that it can be found again. */
export interface AbandonedReader {
  readonly pid: number;
  /** What it waits for. */
  readonly source: string;
}

/**
 * The node as it is now, read through a disposable child process. A question that hangs costs its
 * time limit and one child; the others are asked again of a new one.
 */
export class LiveNode implements NodeReader {
  readonly #command: ReaderCommand;
  readonly #settings: ReaderSettings;
  readonly #abandoned: AbandonedReader[] = [];
  #reader: ReaderProcess | undefined;
  #deadInARow = 0;
  #ended: ReadError | undefined;

  constructor(command: ReaderCommand, settings: ReaderSettings) {
    this.#command = command;
    this.#settings = settings;
  }

  get abandoned(): readonly AbandonedReader[] {
    return this.#abandoned;
  }

  now(): Date {
    return new Date();
  }

  ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    return new Promise((resolve, reject) => {
      this.#send({
        kind,
        question: question as Question<QuestionKind>,
        source: sourceOf(kind, question),
        resolve: resolve as (answer: Answer<QuestionKind>) => void,
        reject,
      });
    });
  }

  /** Ends the look: what waits, and whatever is asked later, is answered `timeout` at once. */
  endLook(why: string): void {
    this.#ended = new ReadError('timeout', 'the look', why);
    const reader = this.#reader;
    this.#reader = undefined;
    for (const waiting of reader?.abandon() ?? []) this.#send(waiting);
  }

  /** Lets the reader go. A later question starts another. */
  close(): void {
    this.#reader?.abandon();
    this.#reader = undefined;
  }

  #send(waiting: Waiting): void {
    const refusal = this.#refusalOf(waiting);
    if (refusal) {
      waiting.reject(refusal);
      return;
    }
    this.#reader ??= new ReaderProcess(this.#command, this.#settings, {
      onAnswer: () => {
        this.#deadInARow = 0;
      },
      onHang: (reader, culprit) => this.#replace(reader, culprit),
      onDeath: (reader, why) => this.#bury(reader, why),
    });
    this.#reader.ask(waiting);
  }

  #refusalOf({ source }: Waiting): ReadError | undefined {
    if (this.#ended) return new ReadError('timeout', source, this.#ended.detail);
    const hung = this.#abandoned.find((reader) => liesOn(source, reader.source));
    // Each reader on a dead path is one more process that nobody can kill.
    if (hung) return new ReadError('timeout', source, `reader ${hung.pid} still waits there`);
    if (this.#abandoned.length >= READERS_ABANDONED_MAX && !isKernelTable(source)) {
      const why = `${READERS_ABANDONED_MAX} readers already wait on dead paths; not asked`;
      return new ReadError('timeout', source, why);
    }
    if (this.#deadInARow >= READERS_DEAD_MAX) {
      return new ReadError('failed', source, 'no reader process stays alive on this node');
    }
    return undefined;
  }

  /** A question hung its reader: it alone is answered `timeout`; the rest is asked again. */
  #replace(reader: ReaderProcess, culprit: Waiting): void {
    if (this.#reader === reader) this.#reader = undefined;
    this.#abandoned.push({ pid: reader.pid, source: culprit.source });
    const others = reader.abandon().filter((waiting) => waiting !== culprit);
    culprit.reject(new ReadError('timeout', culprit.source));
    for (const waiting of others) this.#send(waiting);
  }

  /** A reader that died took the question it had begun with it; the rest is asked again. */
  #bury(reader: ReaderProcess, why: string): void {
    if (this.#reader === reader) this.#reader = undefined;
    this.#deadInARow += 1;
    const begun = reader.begun;
    for (const waiting of reader.abandon()) {
      if (begun.has(waiting)) waiting.reject(new ReadError('failed', waiting.source, why));
      else this.#send(waiting);
    }
  }
}

function liesOn(path: string, hungPath: string): boolean {
  return path === hungPath || path.startsWith(`${hungPath}/`);
}

/** Tables that the kernel makes up itself, with no disk or server behind them. */
function isKernelTable(source: string): boolean {
  return /^\/proc\/(?!\d+\/(?:root|cwd|fd|map_files)\/)/.test(source);
}
