import { rename, unlink } from 'node:fs';
import { pid as ownPid } from 'node:process';
import { type Companion, startCompanion } from '../process/companion.ts';
import { readTracerLine, type TracerFailure } from './bpftrace-line.ts';
import { EventAssembler } from './event-assembler.ts';
import { ATTACH_MS, CALL_WHOLE_MS, LINE_BYTES_MAX, SIGN_MS, TRACER_END_MS } from './limits.ts';
import type { OwnCommand } from './name-stack.ts';
import type { TracedCall } from './traced-call.ts';
import type { TracerSettings } from './tracer.ts';

export interface TracerEvents {
  readonly onStart: () => void;
  readonly onNote: (note: string) => void;
  readonly onCall: (call: TracedCall) => void;
}

export type TracerEnd =
  | { readonly lost: number }
  | { readonly failure: TracerFailure; readonly detail: string };

interface TracerWish {
  readonly seconds: number;
  readonly bpftrace: string | undefined;
  readonly own: (subcommand: 'symbols' | 'tracer') => OwnCommand;
}

/** bpftrace's own clock begins before its probes are attached, and must not end before ours does. */
const GRACE_SECONDS = Math.ceil(ATTACH_MS / 1_000);

/** In the kernel's own folder of ourselves nothing has this name, or can get it. */
const SIGN = '/proc/self/kubediag-watches';

/** Deletes and renames what is not there: when bpftrace tells us of both, it tells of all calls. */
function giveSign(): void {
  unlink(SIGN, () => {});
  rename(SIGN, `${SIGN}-on`, () => {});
}

/** Runs the tracer for as long as it is wished, and never rejects. */
export function startTracer(
  wish: TracerWish,
  events: TracerEvents,
  stop: AbortSignal,
): Promise<TracerEnd> {
  return new Promise((resolve) => {
    let lost = 0;
    let isAttached = false;
    const signs = new Set<string>();
    const timers: NodeJS.Timeout[] = [];
    const onCall = (call: TracedCall) => {
      if (!call.from.name.startsWith(SIGN)) {
        events.onCall(call);
        return;
      }
      signs.add(call.call.replace(/at2?$/, ''));
      if (isAttached || signs.size < 2) return;
      isAttached = true;
      clearInterval(giving);
      timers.push(setTimeout(finish, wish.seconds * 1_000));
      events.onStart();
    };
    const assembler = new EventAssembler(onCall);
    const giving = setInterval(giveSign, SIGN_MS);
    const sweep = setInterval(() => assembler.expire(performance.now()), CALL_WHOLE_MS / 4);
    let companion: Companion | undefined;
    let isSettled = false;
    const settle = (end?: TracerEnd) => {
      if (isSettled) return;
      isSettled = true;
      clearInterval(sweep);
      clearInterval(giving);
      for (const timer of timers) clearTimeout(timer);
      stop.removeEventListener('abort', finish);
      companion?.abandon();
      assembler.close();
      resolve(end ?? { lost: lost + assembler.lost });
    };
    const finish = () => {
      companion?.write(Buffer.from('stop\n'));
      timers.push(setTimeout(settle, TRACER_END_MS));
    };
    const cutter = lineCutter((line) => {
      const said = readTracerLine(line);
      if (said.says === 'printed') assembler.hear(said.text, performance.now());
      else if (said.says === 'lost') lost += said.events;
      else if (said.says === 'note') events.onNote(said.note);
      else if (said.says === 'failure') settle({ failure: said.failure, detail: said.detail });
    });
    companion = startCompanion(commandOf(wish), {
      onOutput: (chunk) => {
        lost += cutter(chunk);
      },
      onEnd: (why) => {
        if (isAttached) settle();
        else settle({ failure: 'tracer-failed', detail: why });
      },
      onGone: () => {},
    });
    const late = 'bpftrace did not begin within its time limit';
    timers.push(
      setTimeout(() => {
        if (!isAttached) settle({ failure: 'bpftrace-failed', detail: late });
      }, ATTACH_MS),
    );
    if (stop.aborted) finish();
    else stop.addEventListener('abort', finish, { once: true });
  });
}

/** In a mount namespace of its own: what is mounted there nobody else sees, and it goes with it. */
function commandOf({ seconds, bpftrace, own }: TracerWish) {
  const settings: TracerSettings = { seconds: seconds + GRACE_SECONDS, bpftrace };
  const { program, arguments: words } = own('tracer');
  // "/proc/self/exe" would be unshare by then.
  const ours = program === '/proc/self/exe' ? `/proc/${ownPid}/exe` : program;
  return {
    program: 'unshare',
    arguments: ['--mount', '--propagation', 'private', ours, ...words, JSON.stringify(settings)],
  };
}

/** Gives the number of lines that were too long to be of ours. */
function lineCutter(onLine: (line: Buffer) => void): (chunk: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0);
  let isSkipping = false;
  return (chunk) => {
    let tooLong = 0;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      if (!isSkipping) onLine(rest.length > 0 ? Buffer.concat([rest, piece]) : piece);
      isSkipping = false;
      rest = Buffer.alloc(0);
      start = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(start)]);
    if (rest.length > LINE_BYTES_MAX) {
      if (!isSkipping) tooLong += 1;
      isSkipping = true;
      rest = Buffer.alloc(0);
    }
    return tooLong;
  };
}
