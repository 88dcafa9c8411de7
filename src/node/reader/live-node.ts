import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Answer,
  type LongWait,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
} from '../model/node-reader.ts';
import { cacheReader, takeReader } from './cached-reader.ts';
import {
  PATIENT_MS,
  READER_DEATH_MS,
  READERS_ABANDONED_MAX,
  READERS_DEAD_MAX,
  READERS_ON_PATHS_MAX,
  TABLES_IN_LINE_MAX,
} from './limits.ts';
import { isLongTable, liesOn, placeOf, reachOf } from './reach.ts';
import {
  longWait,
  type OwnCommand,
  type ReaderEvents,
  ReaderProcess,
  type Waiting,
} from './reader-process.ts';
import type { ReaderSettings } from './reader-protocol.ts';

/** A reader that hangs and cannot be killed. */
export interface AbandonedReader {
  readonly pid: number;
  readonly source: string;
}

/**
 * The live node, read through a disposable child process. A question that hangs costs its time limit
 * and one child process; a new one gets the other questions, without waiting for that limit.
 */
export class LiveNode implements NodeReader {
  readonly #command: OwnCommand;
  readonly #settings: ReaderSettings;
  /** Gets the next question. */
  #reader: ReaderProcess | undefined;
  /** Reads a part of many tables: the kernel makes each on one core. */
  #second: ReaderProcess | undefined;
  /** Readers that may hang. They get no more questions. */
  readonly #slow = new Set<ReaderProcess>();
  /** Readers that hang until the kernel lets them end, and the question of each. */
  readonly #abandoned = new Map<ReaderProcess, Waiting>();
  /** The same for all nodes of this program: a plan and its actions check one after another. */
  static readonly #hung = new Map<ReaderProcess, Waiting>();
  /** Questions that wait for one of these readers to return before they are asked. */
  readonly #patient = new Set<() => LongWait>();
  #deadInARow = 0;
  #endedWhy: string | undefined;

  constructor(command: OwnCommand, settings: ReaderSettings) {
    this.#command = command;
    this.#settings = settings;
  }

  get abandoned(): readonly AbandonedReader[] {
    return [...this.#abandoned].map(([{ pid }, { source }]) => ({ pid, source }));
  }

  /** The question that has been waiting longest, of those that were begun. */
  get longestWait(): LongWait | undefined {
    const waits = [
      ...this.#readers.map((reader) => reader.longestWait),
      ...[...this.#patient].map((wait) => wait()),
    ].filter((wait) => wait !== undefined);
    return waits.toSorted((left, right) => right.waitedMs - left.waitedMs)[0];
  }

  now(): Date {
    return new Date();
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    if ('patience' in question) await this.#waitForHungReader(kind, question);
    return new Promise((resolve, reject) => {
      const [source, place] = [sourceOf(question), placeOf(question)];
      this.#send({ kind, question, source, place, resolve, reject });
    });
  }

  /** Begins another check after `endCheck`. Paths on which a reader still hangs are not touched. */
  beginCheck(): void {
    this.#endedWhy = undefined;
  }

  /** Ends the check: every question, waiting or later, is answered `not-asked` at once. */
  endCheck(why: string): void {
    this.#endedWhy = why;
    for (const { source, reject } of this.#leaveAll()) {
      reject(new ReadError('not-asked', source, why));
    }
  }

  /** As `close`, before another check of the same run: an idle reader is cached for a moment. */
  pause(): void {
    if (this.#reader?.isIdle) {
      cacheReader(this.#reader, this.#cacheKey);
      this.#reader = undefined;
    }
    this.close();
  }

  /**
   * Abandons the readers and their questions. A later question starts a new reader, also if those of this
   * check have all died: what killed them may be over.
   */
  close(): void {
    this.#deadInARow = 0;
    for (const { source, reject } of this.#leaveAll()) {
      reject(new ReadError('failed', source, 'the node was closed'));
    }
  }

  /**
   * The readers that outlive us, after `close`: one that waits for a service ends when it is killed,
   * one that is blocked on a dead path does not.
   */
  async leftBehind(): Promise<readonly AbandonedReader[]> {
    const until = performance.now() + READER_DEATH_MS;
    while (this.#abandoned.size > 0 && performance.now() < until) await sleep(10);
    return this.abandoned;
  }

  /** Waits for a reader that still hangs at this place: it may return before the limit. */
  async #waitForHungReader(kind: QuestionKind, question: Question<QuestionKind>): Promise<void> {
    const place = placeOf(question);
    const begunMs = performance.now();
    const wait = () => longWait({ kind, question, source: sourceOf(question) }, begunMs);
    this.#patient.add(wait);
    const until = begunMs + PATIENT_MS;
    const isWaiting = () => [...LiveNode.#hung.values()].some((hung) => liesOn(place, hung.place));
    const isOver = () => this.#endedWhy !== undefined || performance.now() > until;
    while (isWaiting() && !isOver()) await sleep(20);
    this.#patient.delete(wait);
  }

  #send(waiting: Waiting): void {
    const refusal = this.#refusalOf(waiting);
    if (refusal) waiting.reject(refusal);
    else this.#readerFor(waiting).ask(waiting);
  }

  get #readers(): readonly ReaderProcess[] {
    return [...this.#slow, this.#reader, this.#second].filter((reader) => reader !== undefined);
  }

  #readerFor({ kind, place }: Waiting): ReaderProcess {
    for (const reader of this.#slow) {
      // A second reader would hang there too, so it waits behind the question that may hang.
      if (reader.latest && liesOn(place, reader.latest.place)) return reader;
    }
    this.#reader ??= this.#started();
    // Only tables: no more than one of the two readers may touch what can hang.
    const isShared = isLongTable(kind, place) && this.#reader.filesInLine >= TABLES_IN_LINE_MAX;
    if (!isShared) return this.#reader;
    this.#second ??= this.#started();
    return this.#second.filesInLine < this.#reader.filesInLine ? this.#second : this.#reader;
  }

  #started(): ReaderProcess {
    const events: ReaderEvents = {
      onAnswer: (reader) => this.#onAnswer(reader),
      onQuiet: (reader) => this.#onQuiet(reader),
      onHang: (reader) => this.#onHang(reader),
      onDeath: (reader, why) => this.#onDeath(reader, why),
      onGone: (reader) => this.#onGone(reader),
    };
    const cached = takeReader(this.#cacheKey);
    if (!cached) return new ReaderProcess(this.#command, this.#settings, events);
    cached.beginCheck(events);
    return cached;
  }

  /** Equal for readers that give the same answers. */
  get #cacheKey(): string {
    return JSON.stringify([this.#command, this.#settings]);
  }

  #refusalOf({ kind, source, place }: Waiting): ReadError | undefined {
    if (this.#endedWhy !== undefined) return new ReadError('not-asked', source, this.#endedWhy);
    for (const [reader, hung] of LiveNode.#hung) {
      if (!liesOn(place, hung.place)) continue;
      return new ReadError('timeout', source, `reader ${reader.pid} still waits there`);
    }
    const reach = reachOf(kind, place);
    const most = reach === 'path' ? READERS_ON_PATHS_MAX : READERS_ABANDONED_MAX;
    if (this.#abandoned.size >= most && reach !== 'table') {
      const why = `not asked, because ${this.#abandoned.size} readers already wait on dead paths`;
      return new ReadError('not-asked', source, why);
    }
    if (this.#deadInARow >= READERS_DEAD_MAX) {
      return new ReadError('failed', source, 'no reader process stays alive on this node');
    }
    return undefined;
  }

  /** A slow reader has been replaced by now, and ends when it has answered everything. */
  #onAnswer(reader: ReaderProcess): void {
    this.#deadInARow = 0;
    if (!reader.isIdle || !this.#slow.delete(reader)) return;
    reader.abandon();
  }

  /** A question may hang its reader: the others are asked elsewhere before that is certain. */
  #onQuiet(reader: ReaderProcess): void {
    // This reader and its successor may both be abandoned.
    const isOneTooMany = this.#abandoned.size + this.#slow.size + 2 > READERS_ON_PATHS_MAX;
    const { latest } = reader;
    if (reader !== this.#reader || !latest || isOneTooMany) return;
    this.#reader = undefined;
    this.#slow.add(reader);
    const others = reader.takeBack((waiting) => !liesOn(waiting.place, latest.place));
    for (const waiting of others) this.#send(waiting);
  }

  /** A question hangs its reader: it is answered `timeout`; the others are asked again. */
  #onHang(reader: ReaderProcess): void {
    const culprit = reader.latest;
    const others = this.#leave(reader).filter((waiting) => waiting !== culprit);
    if (culprit) {
      this.#remember(reader, culprit);
      culprit.reject(new ReadError('timeout', culprit.source));
    }
    for (const waiting of others) this.#send(waiting);
  }

  /** A reader died: the questions that it had begun fail; the others are asked again. */
  #onDeath(reader: ReaderProcess, why: string): void {
    this.#deadInARow += 1;
    const begun = reader.begun;
    for (const waiting of this.#leave(reader)) {
      if (begun.has(waiting)) waiting.reject(new ReadError('failed', waiting.source, why));
      else this.#send(waiting);
    }
  }

  #remember(reader: ReaderProcess, waiting: Waiting): void {
    this.#abandoned.set(reader, waiting);
    LiveNode.#hung.set(reader, waiting);
  }

  #onGone(reader: ReaderProcess): void {
    this.#abandoned.delete(reader);
    LiveNode.#hung.delete(reader);
  }

  #leave(reader: ReaderProcess): readonly Waiting[] {
    if (this.#reader === reader) this.#reader = undefined;
    if (this.#second === reader) this.#second = undefined;
    this.#slow.delete(reader);
    return reader.abandon();
  }

  #leaveAll(): readonly Waiting[] {
    const readers = this.#readers;
    for (const reader of readers) {
      // It may hang and outlive us, so it counts as abandoned until it has died.
      if (reader.isQuiet && reader.latest) this.#remember(reader, reader.latest);
    }
    return readers.flatMap((reader) => this.#leave(reader));
  }
}
