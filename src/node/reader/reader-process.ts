import { readFileSync } from 'node:fs';
import { type Companion, startCompanion } from '../../lib/process/companion.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { textOf } from '../../lib/std/text-codec.ts';
import {
  type Answer,
  type LongWait,
  type Question,
  type QuestionKind,
  ReadError,
} from '../model/node-reader.ts';
import {
  PATIENT_MS,
  QUESTION_MS,
  READER_BUSY_MS,
  READER_QUIET_MS,
  READER_START_MS,
} from './limits.ts';
import { isPathKind } from './reach.ts';
import {
  type Frame,
  FrameParser,
  type FromReader,
  frameOf,
  type ReaderSettings,
} from './reader-protocol.ts';

/** How this very program is started with a hidden subcommand, such as `reader`. */
export interface OwnCommand {
  readonly program: string;
  readonly arguments: readonly string[];
}

/** A question that somebody waits for. */
export interface Waiting {
  readonly kind: QuestionKind;
  readonly question: Question<QuestionKind>;
  readonly source: string;
  /** What it touches: a path, a socket, a program. */
  readonly place: string;
  readonly resolve: (answer: Answer<QuestionKind>) => void;
  readonly reject: (error: ReadError) => void;
}

export interface ReaderEvents {
  readonly onAnswer: (reader: ReaderProcess) => void;
  /** It has said nothing for a while, does nothing, and others wait behind its latest question. */
  readonly onQuiet: (reader: ReaderProcess) => void;
  /** A time limit has passed, so its latest question hangs. */
  readonly onHang: (reader: ReaderProcess) => void;
  readonly onDeath: (reader: ReaderProcess, why: string) => void;
  /** It was abandoned, and has died since. */
  readonly onGone: (reader: ReaderProcess) => void;
}

/** One disposable reader: its pipe, and a clock for every question it has begun. */
export class ReaderProcess {
  readonly #companion: Companion;
  #events: ReaderEvents;
  readonly #parser = new FrameParser<FromReader>();
  readonly #waiting = new Map<number, Waiting>();
  /** In the order in which they were begun. */
  readonly #clocks = new Map<number, NodeJS.Timeout>();
  readonly #begunMs = new Map<number, number>();
  readonly #settings: ReaderSettings;
  #start: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #chunksReceived = 0;
  #lastReceivedMs = performance.now();
  #lastId = 0;
  #filesInLine = 0;

  constructor(command: OwnCommand, settings: ReaderSettings, events: ReaderEvents) {
    this.#events = events;
    this.#settings = settings;
    this.#companion = startCompanion(
      { ...command, diesWithUs: true },
      {
        onOutput: (chunk) => this.#hear(chunk),
        onEnd: (why) => this.#events.onDeath(this, `the reader process is gone: ${why}`),
        onGone: () => this.#events.onGone(this),
      },
    );
    this.beginCheck(events);
  }

  /** Drops what it remembers of an earlier check, and calls these listeners from now on. */
  beginCheck(events: ReaderEvents): void {
    this.#events = events;
    this.#start = setTimeout(
      () => this.#events.onDeath(this, 'the reader process did not start within its time limit'),
      READER_START_MS,
    );
    this.#companion.write(frameOf({ say: 'settings', settings: this.#settings }));
  }

  /** Nobody asks it anything for now. */
  rest(onDeath: () => void): void {
    const ignore = () => {};
    this.#events = { onAnswer: ignore, onQuiet: ignore, onHang: ignore, onDeath, onGone: ignore };
  }

  get pid(): number {
    return this.#companion.pid;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** How many files it was asked for and has not answered. */
  get filesInLine(): number {
    return this.#filesInLine;
  }

  /** It works on a question and has said nothing for a while. */
  get isQuiet(): boolean {
    return this.#clocks.size > 0 && performance.now() - this.#lastReceivedMs >= READER_QUIET_MS;
  }

  /** The questions it was in the middle of. */
  get begun(): ReadonlySet<Waiting> {
    return new Set([...this.#clocks.keys()].flatMap((id) => this.#waiting.get(id) ?? []));
  }

  /** The question that it works on for longest. */
  get longestWait(): LongWait | undefined {
    const [oldest] = this.#clocks.keys();
    const waiting = oldest === undefined ? undefined : this.#waiting.get(oldest);
    if (oldest === undefined || !waiting) return undefined;
    return longWait(waiting, this.#begunMs.get(oldest) ?? performance.now());
  }

  /** The question begun last. Paths are touched one at a time, so when it hangs, it hangs there. */
  get latest(): Waiting | undefined {
    return [...this.begun].at(-1);
  }

  ask(waiting: Waiting): void {
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, waiting);
    const { kind, question } = waiting;
    if (kind === 'file') this.#filesInLine += 1;
    this.#companion.hold(true);
    this.#companion.write(frameOf({ say: 'ask', id: this.#lastId, kind, question }));
    if (!this.#quiet) this.#listen();
  }

  /** Gives back questions that it has not answered, its latest excepted. It need not answer them. */
  takeBack(isWanted: (waiting: Waiting) => boolean): readonly Waiting[] {
    const { latest } = this;
    const taken = [...this.#waiting].filter(([, it]) => it !== latest && isWanted(it));
    for (const [id] of taken) this.#settle(id);
    return taken.map(([, waiting]) => waiting);
  }

  /** Leaves the process behind, and gives back the questions that nobody has answered. */
  abandon(): readonly Waiting[] {
    clearTimeout(this.#start);
    clearTimeout(this.#quiet);
    for (const clock of this.#clocks.values()) clearTimeout(clock);
    this.#companion.abandon();
    const unanswered = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#clocks.clear();
    return unanswered;
  }

  #hear(chunk: Buffer): void {
    this.#chunksReceived += 1;
    this.#lastReceivedMs = performance.now();
    for (const { header, payload } of this.#framesIn(chunk)) this.#obey(header, payload);
    this.#listen();
  }

  #framesIn(chunk: Buffer): readonly Frame<FromReader>[] {
    try {
      return [...this.#parser.push(chunk)];
    } catch (error) {
      // Only when it is not our reader that runs there: then nothing it says can be used.
      const why = messageOf(error);
      this.#events.onDeath(this, `the reader process sent a malformed answer: ${why}`);
      return [];
    }
  }

  #obey(header: FromReader, payload: Buffer): void {
    if (header.say === 'ready') {
      clearTimeout(this.#start);
      return;
    }
    const waiting = this.#waiting.get(header.id);
    if (!waiting) return;
    if (header.say === 'begin') {
      this.#begunMs.set(header.id, performance.now());
      this.#startClock(header.id, limitMs(waiting));
      return;
    }
    this.#settle(header.id);
    this.#events.onAnswer(this);
    if (header.say === 'failure') {
      waiting.reject(new ReadError(header.failure, waiting.source, header.detail));
    } else {
      waiting.resolve(answerOf(waiting.kind, header.value, payload));
    }
  }

  #startClock(id: number, ms: number): void {
    const expire = () => {
      const before = this.#chunksReceived;
      // When we were busy ourselves the answer may be in the pipe: one turn of the loop brings it,
      // or the beginning of a long one.
      setImmediate(() => {
        if (!this.#clocks.has(id)) return;
        if (this.#chunksReceived === before) this.#events.onHang(this);
        else this.#startClock(id, READER_QUIET_MS);
      });
    };
    this.#clocks.set(id, setTimeout(expire, ms));
  }

  /** Waits for its next word, while somebody waits behind its latest question. */
  #listen(): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    if (this.#waiting.size < 2 || this.#clocks.size === 0) return;
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      setImmediate(() => {
        if (this.isQuiet && this.#isBlocked() && !this.#isAtWork()) this.#events.onQuiet(this);
        if (!this.#quiet) this.#listen();
      });
    }, READER_QUIET_MS);
  }

  /** A reader may have much to do, but not for ever. */
  #isAtWork(): boolean {
    return performance.now() - this.#lastReceivedMs < READER_BUSY_MS && isRunning(this.pid);
  }

  /** Services are asked concurrently, so waiting for one of them delays no other. */
  #isBlocked(): boolean {
    const { latest } = this;
    return (
      this.#waiting.size > this.#clocks.size || (latest !== undefined && isPathKind(latest.kind))
    );
  }

  #settle(id: number): void {
    clearTimeout(this.#clocks.get(id));
    this.#clocks.delete(id);
    this.#begunMs.delete(id);
    if (this.#waiting.get(id)?.kind === 'file') this.#filesInLine -= 1;
    this.#waiting.delete(id);
    // An idle reader must not keep the program from ending.
    if (this.#waiting.size === 0) this.#companion.hold(false);
  }
}

/**
 * Whether its first thread runs, or would if it got a processor. On a busy node it is late then, but no
 * path holds it, and another reader would only make the node busier.
 */
function isRunning(pid: number): boolean {
  try {
    // 812 (kubediag-reader) R 1 812 812 0 ...
    return /\) R \d+ [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false; // It has just ended: `onEnd` reports that.
  }
}

/** Who asks a second time, with more patience, has waited for the first time before. */
export function longWait(
  { kind, question, source }: Pick<Waiting, 'kind' | 'question' | 'source'>,
  begunMs: number,
): LongWait {
  const beforeMs = 'patience' in question ? QUESTION_MS[kind] : 0;
  return {
    source,
    waitedMs: beforeMs + performance.now() - begunMs,
    limitMs: beforeMs + limitMs({ kind, question }),
  };
}

function limitMs({ kind, question }: Pick<Waiting, 'kind' | 'question'>): number {
  return 'patience' in question ? PATIENT_MS : QUESTION_MS[kind];
}

function answerOf(kind: QuestionKind, value: unknown, payload: Buffer): Answer<QuestionKind> {
  if (kind === 'file') return textOf(payload);
  if (kind === 'kubelet') return { ...(value as { status: number }), body: textOf(payload) };
  return value as Answer<QuestionKind>;
}
