import { accessSync, constants, existsSync, readlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Companion, startCompanion } from '../../lib/process/companion.ts';
import { runProgram, systemProgram } from '../../lib/process/run.ts';
import { orCode } from '../reader/read-file.ts';
import type { TracerFailure } from './bpftrace-line.ts';
import { BUFFER_PAGES, ERRORS_BYTES_MAX, MOUNT_MS, TEXT_BYTES } from './limits.ts';
import { CALLS, programText } from './program-text.ts';

export interface TracerSettings {
  readonly seconds: number;
  /** The file of bpftrace, when it is not to be looked for. */
  readonly bpftrace: string | undefined;
}

const TRACEFS = '/sys/kernel/tracing';
const DEBUGFS = '/sys/kernel/debug';
const TYPES = '/sys/kernel/btf/vmlinux';

/**
 * The disposable tracer: a child in a mount namespace of its own that sees to tracefs there, and to
 * bpftrace. It ends when its input does, and takes bpftrace along: they share a process group, which
 * is killed if it must, and bpftrace has a clock of its own for the case that all of us are.
 */
export async function runTracer(settingsText: string): Promise<void> {
  const settings = JSON.parse(settingsText) as TracerSettings;
  let bpftrace: Companion | undefined;
  let isOver = false;
  const end = () => {
    isOver = true;
    bpftrace?.abandon();
    process.stdin.destroy();
  };
  process.stdin.on('data', end);
  process.stdin.on('end', end);
  process.stdin.on('error', end);
  const fail = (failure: TracerFailure, detail: string) => {
    say({ type: 'tracer-failure', failure, detail });
    end();
  };

  const program = settings.bpftrace ?? systemProgram('bpftrace');
  if (program === undefined || !isExecutable(program)) {
    fail('no-bpftrace', settings.bpftrace ?? '');
    return;
  }
  const events = await findTracepoints();
  if ('failure' in events) {
    fail(events.failure, events.detail);
    return;
  }
  if (isOver) return;
  const start = (hasTypes: boolean) => {
    const { seconds } = settings;
    const options = { seconds, calls: events.calls, hasTypes, pidNamespace: ownPids() };
    bpftrace = startBpftrace(program, programText(options), {
      onFailure: (why) => {
        if (isOver) return;
        if (!hasTypes) {
          fail('bpftrace-failed', why);
          return;
        }
        // A kernel whose own description does not fit this bpftrace still has its tracepoints.
        const note = `without the kernel's types, because bpftrace said: ${why}`;
        say({ type: 'tracer-note', note });
        start(false);
      },
      onDone: end,
    });
  };
  start(existsSync(TYPES));
}

function startBpftrace(
  program: string,
  text: string,
  { onFailure, onDone }: { onFailure: (why: string) => void; onDone: () => void },
): Companion {
  let errors = '';
  let hasBegun = false;
  return startCompanion(
    {
      program,
      arguments: ['-f', 'json', '-e', text],
      isOfOurGroup: true,
      environment: {
        ...process.env,
        LC_ALL: 'C',
        BPFTRACE_STRLEN: String(TEXT_BYTES),
        BPFTRACE_MAX_STRLEN: String(TEXT_BYTES),
        BPFTRACE_PERF_RB_PAGES: String(BUFFER_PAGES),
        // It would open every program that it sees, on whichever disk that lies.
        BPFTRACE_NO_USER_SYMBOLS: '1',
      },
    },
    {
      onOutput: (chunk) => {
        // It announces its probes before the kernel has taken the program.
        hasBegun ||= chunk.includes('"printf"');
        // At once and waited for: what nobody reads yet stays in the kernel, not in our memory.
        bytesText(chunk);
      },
      onErrorOutput: (chunk) => {
        errors = (errors + chunk.toString('utf8')).slice(-ERRORS_BYTES_MAX);
      },
      onEnd: (why) => {
        if (hasBegun) onDone();
        else onFailure(reasonIn(errors) || why);
      },
    },
  );
}

/** The message about RLIMIT_MEMLOCK is printed on every start, and means nothing since Linux 5.11. */
function reasonIn(errors: string): string {
  const lines = errors.split('\n').map((line) => line.trim());
  return lines.filter((line) => line && !line.includes('RLIMIT_MEMLOCK')).join(' ');
}

type Tracepoints =
  | { readonly calls: readonly string[] }
  | { readonly failure: 'no-tracefs' | 'no-tracepoints'; readonly detail: string };

async function findTracepoints(): Promise<Tracepoints> {
  const known = () => callsIn(TRACEFS) ?? callsIn(join(DEBUGFS, 'tracing'));
  const mounted = known();
  if (mounted) return { calls: mounted };
  const why = await mountHere('tracefs', TRACEFS);
  // Older versions of bpftrace look below debugfs only, which mounts tracefs by itself.
  const whyNot = callsIn(TRACEFS) ? undefined : await mountHere('debugfs', DEBUGFS);
  const calls = known();
  if (calls) return { calls };
  if (why !== undefined && whyNot !== undefined) return { failure: 'no-tracefs', detail: why };
  return { failure: 'no-tracepoints', detail: `${TRACEFS}/events/syscalls` };
}

function callsIn(folder: string): readonly string[] | undefined {
  const found = CALLS.filter((call) =>
    existsSync(join(folder, 'events/syscalls', `sys_enter_${call}`)),
  );
  return found.length > 0 ? found : undefined;
}

/** In our own mount namespace; why it failed, or nothing. */
async function mountHere(type: string, folder: string): Promise<string | undefined> {
  const program = systemProgram('mount');
  if (program === undefined) return 'there is no program "mount" on this machine';
  const result = await runProgram({
    program,
    arguments: ['-t', type, type, folder],
    deadlineMs: MOUNT_MS,
    outputBytesMax: ERRORS_BYTES_MAX,
  });
  if (result.ended === 'exit' && result.code === 0) return undefined;
  return result.ended === 'not-started' ? result.why : result.stderr.trim() || result.ended;
}

function isExecutable(file: string): boolean {
  return orCode(() => accessSync(file, constants.X_OK)).code === undefined;
}

/** 4026531836 of "pid:[4026531836]" */
function ownPids(): number {
  return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]);
}

function say(line: object): void {
  bytesText(Buffer.from(`${JSON.stringify(line)}\n`));
}

function bytesText(bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  } catch {
    // Nobody listens any more: the end of our input says so too.
  }
}
