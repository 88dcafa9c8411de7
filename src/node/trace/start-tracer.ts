import { rename, unlink } from 'node:fs';
import { hrtime, pid as ownPid } from 'node:process';
import { type Companion, startCompanion } from '../../lib/process/companion.ts';
import { systemProgram } from '../../lib/process/run.ts';
import { LineCutter } from '../../lib/std/line-cutter.ts';
import type { OwnCommand } from '../reader/reader-process.ts';
import { readTracerLine, type TracerStop } from './bpftrace-line.ts';
import { EventAssembler } from './event-assembler.ts';
import {
  ATTACH_MS,
  CALL_COMPLETE_MS,
  LINE_BYTES_MAX,
  QUIET_DELAYS,
  QUIET_MS,
  SIGN_MS,
  TRACER_END_MS,
} from './limits.ts';
import type { TracedCall } from './traced-call.ts';
import type { TracerSettings } from './tracer.ts';

export interface TracerEvents {
  readonly onStart: () => void;
  readonly onNote: (note: string) => void;
  readonly onCall: (call: TracedCall) => void;
}

export type TracerEnd =
  | {
      readonly lost: number;
      /** More was seen than could be reported by the end. */
      readonly isBehind: boolean;
    }
  | TracerStop;

export interface TracerOptions extends TracerSettings {
  /** This very program with a hidden subcommand. */
  readonly own: (subcommand: 'symbols' | 'tracer') => OwnCommand;
}

/** bpftrace's own clock begins before its probes are attached, and must not end before ours does. */
const GRACE_SECONDS = Math.ceil(ATTACH_MS / 1_000);

/** In the kernel's own directory of ourselves nothing has this name, or can get it. */
const SIGN = '/proc/self/kubediag-watches';
const LAST_SIGN = `${SIGN}-no-more`;

/** Deletes and renames what does not exist: when bpftrace reports both, it reports all calls. */
function giveSign(name: string): void {
  unlink(name, () => {});
  rename(name, `${name}-on`, () => {});
}

/** Runs the tracer for the requested time, and never rejects. */
export function startTracer(
  options: TracerOptions,
  events: TracerEvents,
  stop: AbortSignal,
): Promise<TracerEnd> {
  const watch = new Watch(options, events);
  if (stop.aborted) watch.finish();
  else stop.addEventListener('abort', () => watch.finish(), { once: true });
  return watch.ended;
}

/** From the start of the tracer to its end, whichever of the two sides comes to it first. */
class Watch {
  readonly #options: TracerOptions;
  readonly #events: TracerEvents;
  readonly #end = Promise.withResolvers<TracerEnd>();
  readonly #assembler = new EventAssembler((call) => this.#note(call));
  readonly #companion: Companion;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #signs = new Set<string>();
  #quiet: NodeJS.Timeout | undefined;
  #quietMs = QUIET_MS;
  #lastSignNs = 0;
  #isAttached = false;
  #isSettled = false;
  #lost = 0;

  constructor(options: TracerOptions, events: TracerEvents) {
    this.#options = options;
    this.#events = events;
    const lines = new LineCutter(LINE_BYTES_MAX, (bytes, start, end) => {
      // Of a longer line only the beginning is here.
      if (end - start < LINE_BYTES_MAX) this.#hear(bytes.subarray(start, end));
      else this.#lost += 1;
    });
    this.#companion = startCompanion(commandOf(options), {
      onOutput: (chunk) => lines.push(chunk),
      onEnd: (why) =>
        this.#settle(this.#isAttached ? true : { failure: 'tracer-failed', detail: why }),
      onGone: () => {},
    });
    const late = { failure: 'bpftrace-failed', detail: LATE } as const;
    this.#timers.push(
      setInterval(() => this.#assembler.expire(performance.now()), CALL_COMPLETE_MS / 4),
      setInterval(() => this.#isAttached || giveSign(SIGN), SIGN_MS),
      setTimeout(() => this.#isAttached || this.#settle(late), ATTACH_MS),
    );
  }

  get ended(): Promise<TracerEnd> {
    return this.#end.promise;
  }

  /** Waits for what is on its way to us: the last sign comes behind it, on the same processor. */
  finish(): void {
    if (!this.#isAttached) {
      this.#settle(false);
      return;
    }
    giveSign(LAST_SIGN);
    this.#timers.push(setTimeout(() => this.#settle(true), TRACER_END_MS));
  }

  #hear(line: Uint8Array): void {
    const said = readTracerLine(line);
    if (said.says === 'printed') this.#assembler.hear(said.text, performance.now());
    else if (said.says === 'lost') this.#lost += said.events;
    else if (said.says === 'note') this.#events.onNote(said.note);
    else if (said.says === 'failure') this.#settle({ failure: said.failure, detail: said.detail });
  }

  #note(call: TracedCall): void {
    // Other processors have lines of their own; they are through when none is older than the sign.
    if (this.#lastSignNs > 0 && call.atNs < this.#lastSignNs) this.#awaitQuiet();
    if (!call.from.name.startsWith(SIGN)) {
      this.#events.onCall(call);
      return;
    }
    if (call.from.name.startsWith(LAST_SIGN)) {
      // The clock of the kernel's programs is that of hrtime: so late comes what happens now.
      const delayMs = (Number(hrtime.bigint()) - call.atNs) / 1e6;
      this.#quietMs = Math.max(QUIET_MS, Math.min(delayMs * QUIET_DELAYS, TRACER_END_MS));
      this.#lastSignNs ||= call.atNs;
      this.#awaitQuiet();
    }
    this.#signs.add(call.call.replace(/at2?$/, ''));
    if (this.#isAttached || this.#signs.size < 2) return;
    this.#isAttached = true;
    this.#timers.push(setTimeout(() => this.finish(), this.#options.seconds * 1_000));
    this.#events.onStart();
  }

  #awaitQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#settle(false), this.#quietMs);
  }

  /** With the failure, or with whether more was seen than could be reported. */
  #settle(end: boolean | TracerStop): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#quiet);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#companion.abandon();
    this.#assembler.close();
    const lost = this.#lost + this.#assembler.lost;
    this.#end.resolve(typeof end === 'object' ? end : { lost, isBehind: end });
  }
}

const LATE = 'bpftrace did not begin within its time limit';

/** In a mount namespace of its own: what is mounted there nobody else sees, and it goes with it. */
function commandOf({ seconds, bpftrace, own }: TracerOptions) {
  const settings: TracerSettings = { seconds: seconds + GRACE_SECONDS, bpftrace };
  const { program, arguments: args } = own('tracer');
  // "/proc/self/exe" would be unshare by then.
  const ours = program === '/proc/self/exe' ? `/proc/${ownPid}/exe` : program;
  return {
    program: systemProgram('unshare') ?? '/usr/bin/unshare',
    arguments: ['--mount', '--propagation', 'private', ours, ...args, JSON.stringify(settings)],
  };
}
