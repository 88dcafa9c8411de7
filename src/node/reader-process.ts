import { type Companion, startCompanion } from '../process/companion.ts';
import { QUESTION_MS, READER_START_MS } from './limits.ts';
import { type Answer, type Question, type QuestionKind, ReadError } from './node-reader.ts';
import { FrameParser, type FromReader, frameOf, type ReaderSettings } from './reader-protocol.ts';
import { textOf } from './text-codec.ts';

/** How a reader is started: this very program, with the subcommand `reader`. */
export interface ReaderCommand {
  readonly program: string;
  readonly arguments: readonly string[];
}

/** A question that somebody waits for. */
export interface Waiting {
  readonly kind: QuestionKind;
  readonly question: Question<QuestionKind>;
  readonly source: string;
  readonly resolve: (answer: Answer<QuestionKind>) => void;
  readonly reject: (error: ReadError) => void;
}

interface ReaderEvents {
  readonly onAnswer: () => void;
  readonly onHang: (reader: ReaderProcess, culprit: Waiting) => void;
  readonly onDeath: (reader: ReaderProcess, why: string) => void;
}

/** One disposable reader: its pipe, and a clock for every question it has begun. */
export class ReaderProcess {
  readonly #companion: Companion;
  readonly #events: ReaderEvents;
  readonly #waiting = new Map<number, Waiting>();
  readonly #clocks = new Map<number, NodeJS.Timeout>();
  readonly #start: NodeJS.Timeout;
  #lastId = 0;

  constructor(command: ReaderCommand, settings: ReaderSettings, events: ReaderEvents) {
    this.#events = events;
    const parser = new FrameParser<FromReader>();
    this.#companion = startCompanion(command, {
      onOutput: (chunk) => {
        for (const { header, payload } of parser.push(chunk)) this.#hear(header, payload);
      },
      onEnd: (why) => events.onDeath(this, `the reader process is gone: ${why}`),
    });
    this.#start = setTimeout(
      () => events.onDeath(this, 'the reader process did not start within its time limit'),
      READER_START_MS,
    );
    this.#companion.write(frameOf({ say: 'settings', settings }));
  }

  get pid(): number {
    return this.#companion.pid;
  }

  /** The questions it was in the middle of. */
  get begun(): ReadonlySet<Waiting> {
    return new Set([...this.#clocks.keys()].flatMap((id) => this.#waiting.get(id) ?? []));
  }

  ask(waiting: Waiting): void {
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, waiting);
    const { kind, question } = waiting;
    this.#companion.hold(true);
    this.#companion.write(frameOf({ say: 'ask', id: this.#lastId, kind, question }));
  }

  /** Leaves the process behind, and gives back the questions that nobody has answered. */
  abandon(): readonly Waiting[] {
    clearTimeout(this.#start);
    for (const clock of this.#clocks.values()) clearTimeout(clock);
    this.#companion.abandon();
    const unanswered = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#clocks.clear();
    return unanswered;
  }

  #hear(header: FromReader, payload: Buffer): void {
    if (header.say === 'ready') {
      clearTimeout(this.#start);
      return;
    }
    const waiting = this.#waiting.get(header.id);
    if (!waiting) return;
    if (header.say === 'begin') {
      const clock = setTimeout(() => this.#events.onHang(this, waiting), QUESTION_MS[waiting.kind]);
      this.#clocks.set(header.id, clock);
      return;
    }
    this.#settle(header.id);
    this.#events.onAnswer();
    if (header.say === 'failure') {
      waiting.reject(new ReadError(header.failure, waiting.source, header.detail));
    } else {
      waiting.resolve(answerOf(waiting.kind, header.value, payload));
    }
  }

  #settle(id: number): void {
    clearTimeout(this.#clocks.get(id));
    this.#clocks.delete(id);
    this.#waiting.delete(id);
    // An idle reader must not keep the program from ending.
    if (this.#waiting.size === 0) this.#companion.hold(false);
  }
}

function answerOf(kind: QuestionKind, value: unknown, payload: Buffer): Answer<QuestionKind> {
  if (kind === 'file') return textOf(payload);
  if (kind === 'kubelet') return { ...(value as { status: number }), body: textOf(payload) };
  return value as Answer<QuestionKind>;
}
