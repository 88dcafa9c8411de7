import { MatchingLines } from '../../../lib/std/matching-lines.ts';
import type { LogSignature } from '../../model/log-signature.ts';
import type { LogLines } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { LOG_FIRST_LINES_MAX, LOG_LAST_LINES_MAX, LOG_LINE_CHARACTERS_MAX } from '../limits.ts';
import { headerOf, type LogTime, parseLogLine } from './log-line.ts';
import {
  type Fields,
  fieldsIn,
  literalsOf,
  SIGNATURES,
  type SignatureId,
} from './log-signatures.ts';
import { dateOf, type LogClock, logClock } from './log-time.ts';

/** One match of a signature in a log. A line with two matches gives two entries. */
export interface LogEntry {
  /** The name of the signature. */
  readonly signature: string;
  /** Not set if the line has no time. */
  readonly time?: Date;
  /** The message without the prefixes of journals and loggers. Every quote is unescaped. */
  readonly message: string;
  /** Depend on the signature: `containerId`, `name`, `error`, `podUid`, `path`, `volume`... */
  readonly fields: Fields;
  /** "/var/log/kubelet.INFO:123", "journalctl _COMM=kubelet". */
  readonly origin: Origin;
  /** The original line. */
  readonly text: string;
}

/** One file or journal that was read, and the time that it covers. */
export interface LogSource extends Pick<LogLines, 'linesRead' | 'bytesRead' | 'isWhole'> {
  readonly origin: Origin;
  /** Not set if the first line has no time that we can parse. */
  readonly firstTime?: Date;
  readonly lastTime?: Date;
  /** False if the time zone is not known: UTC is assumed. */
  readonly isZoneKnown: boolean;
}

/** The messages of the kubelet that match a signature. */
export interface KubeletLog {
  readonly sources: readonly LogSource[];
  /** Oldest first. Entries without a time stay after the line before them. */
  readonly entries: readonly LogEntry[];
  /** The number of lines that contain a literal of the signature, including dropped lines. */
  readonly counts: Readonly<Record<string, number>>;
  /** Signatures that this log was not searched for: nothing is known about them. */
  readonly unasked: readonly string[];
  /** Logs that could not be read, and why. */
  readonly unread: readonly string[];
  /** When the log was read from a node; not set for a submitted text. */
  readonly readAt?: Date;
}

export interface LogOptions {
  /** When the log was read, for lines without a year. */
  readonly now: Date;
  readonly modifiedMs?: number;
  /** The signatures to search for; by default those of the evidence. */
  readonly signatures?: readonly LogSignature[];
}

/** The entries of a submitted text that is a log, or contains log lines. */
export function kubeletLogOf(text: string, file: string, options: LogOptions): KubeletLog {
  return logOfLines(linesIn([readable(text)], options), { file }, options);
}

// {"__REALTIME_TIMESTAMP":"1776418555243111","MESSAGE":[69,48,52,49,55]}
const BYTES = /^.*"MESSAGE"\s*:\s*\[[\d,\s]+\].*$/gm;

/** journalctl prints a message that is not UTF-8 as a list of bytes, without any literal. */
function readable(text: string): string {
  if (!text.includes('"MESSAGE"')) return text;
  return text.replace(BYTES, (line) => {
    const { time, message } = parseLogLine(line);
    return `${headerOf(time)}${message.replaceAll('\n', '\\n')}`;
  });
}

/** The lines of a text that contain one of the literals. Pieces may end within a line. */
export function linesIn(
  pieces: Iterable<string>,
  { modifiedMs, signatures = SIGNATURES }: Partial<LogOptions>,
): LogLines {
  const literals = literalsOf(signatures);
  const matching = new MatchingLines(literals, {
    firstMax: LOG_FIRST_LINES_MAX,
    lastMax: LOG_LAST_LINES_MAX,
    characterMax: LOG_LINE_CHARACTERS_MAX,
  });
  let bytesRead = 0;
  for (const piece of pieces) {
    bytesRead += piece.length;
    matching.push(piece);
  }
  const { lines, counts, first, last, scanned } = matching.end();
  return {
    lines: lines.map(({ at, text }) => ({ number: at, text })),
    containing: literals,
    counts,
    first: first ?? null,
    last: last ?? null,
    linesRead: scanned,
    bytesRead,
    isWhole: true,
    modifiedMs: modifiedMs ?? null,
  };
}

/** The entries in the lines of one log. */
export function logOfLines(
  read: LogLines,
  origin: Origin,
  { now, signatures = SIGNATURES }: Pick<LogOptions, 'now' | 'signatures'>,
): KubeletLog {
  const first = read.first === null ? undefined : parseLogLine(read.first).time;
  const last = lastTimeIn(read);
  const clock = logClock({ first, last, modifiedMs: read.modifiedMs ?? undefined, now });
  const entries = read.lines.flatMap(({ number, text }) =>
    entriesIn(text, originOf(read, origin, number), clock, signatures),
  );
  const asked = new Set(read.containing);
  const firstTime = first ? dateOf(first, clock) : entries.find(({ time }) => time)?.time;
  return {
    sources: [
      {
        origin,
        ...(firstTime ? { firstTime } : {}),
        ...(last ? { lastTime: dateOf(last, clock) } : {}),
        linesRead: read.linesRead,
        bytesRead: read.bytesRead,
        isWhole: read.isWhole,
        isZoneKnown: clock.isZoneKnown,
      },
    ],
    entries,
    counts: countsOf(read, signatures),
    unasked: signatures.flatMap(({ id, literals }) =>
      literals.every((literal) => asked.has(literal)) ? [] : [id],
    ),
    unread: [],
  };
}

/** The last line may continue a message. Then the last retained line with a time counts. */
function lastTimeIn({ lines, last }: LogLines): LogTime | undefined {
  const time = last === null ? undefined : parseLogLine(last).time;
  if (time) return time;
  const timed = lines.findLast(({ text }) => parseLogLine(text).time);
  return timed && parseLogLine(timed.text).time;
}

/** Lines are counted from where reading began. A journal has no line numbers. */
function originOf({ isWhole, bytesRead }: LogLines, origin: Origin, line: number): Origin {
  if (!('file' in origin)) return origin;
  return { ...origin, line, ...(isWhole ? {} : { lastBytes: bytesRead }) };
}

function entriesIn(
  text: string,
  origin: Origin,
  clock: LogClock,
  signatures: readonly LogSignature[],
): readonly LogEntry[] {
  const { message, time } = parseLogLine(text);
  const said = { ...(time ? { time: dateOf(time, clock) } : {}), message, origin, text };
  return signatures.flatMap((signature) => {
    const fields = fieldsIn(message, signature);
    return fields ? [{ signature: signature.id, fields, ...said }] : [];
  });
}

function countsOf(
  { containing, counts }: LogLines,
  signatures: readonly LogSignature[],
): KubeletLog['counts'] {
  const byLiteral = new Map(containing.map((literal, index) => [literal, counts[index] ?? 0]));
  return Object.fromEntries(
    signatures.map(({ id, literals }) => [
      id,
      literals.reduce((sum, literal) => sum + (byLiteral.get(literal) ?? 0), 0),
    ]),
  );
}

/** Merges several logs of one kubelet, or several parts of one log. */
export function mergedLogs(logs: readonly KubeletLog[], unread: readonly string[]): KubeletLog {
  const seen = new Set<string>();
  const entries = logs
    .flatMap((log) => withTimes(log.entries))
    .filter(({ entry }) => {
      // The same line in two files: a kubelet may write to both.
      const key = `${entry.signature} ${entry.text}`;
      return !seen.has(key) && seen.add(key);
    });
  const counts: Record<string, number> = {};
  for (const log of logs) {
    for (const [id, count] of Object.entries(log.counts)) counts[id] = (counts[id] ?? 0) + count;
  }
  return {
    sources: logs.flatMap(({ sources }) => sources),
    entries: entries.toSorted((left, right) => left.ms - right.ms).map(({ entry }) => entry),
    counts,
    unasked: [...new Set(logs.flatMap((log) => log.unasked))],
    unread: [...new Set([...logs.flatMap((log) => log.unread), ...unread])],
  };
}

/** A line without a time has the time of the line before it. */
function withTimes(entries: readonly LogEntry[]): readonly { entry: LogEntry; ms: number }[] {
  let ms = 0;
  return entries.map((entry) => {
    ms = entry.time?.getTime() ?? ms;
    return { entry, ms };
  });
}

/** The entries with these signatures, of the evidence or of a fault. */
export function entriesOf(
  log: KubeletLog,
  ...signatures: readonly (SignatureId | LogSignature)[]
): readonly LogEntry[] {
  const ids = new Set<string>(
    signatures.map((each) => (typeof each === 'string' ? each : each.id)),
  );
  return log.entries.filter(({ signature }) => ids.has(signature));
}

/** The last message of the sync loop. */
export interface LastSyncLoop {
  readonly entry: LogEntry;
  /** Housekeeping began and did not log its end; kubelets before 1.22 never log it. */
  readonly isInHousekeeping: boolean;
}

/** The loop logs these when it has finished with the orphans of one iteration. */
const DONE_WITH_ORPHANS: readonly SignatureId[] = ['orphaned-pod', 'orphans-not-cleaned'];

/** Iterations are logged from verbosity 4 on, but messages of the cleanup are always logged. */
export function lastSyncLoop(log: KubeletLog): LastSyncLoop | undefined {
  const entry = entriesOf(log, 'sync-loop', 'orphan-cleaned', ...DONE_WITH_ORPHANS).at(-1);
  if (!entry) return undefined;
  const { event, end, note } = entriesOf(log, 'sync-loop').at(-1)?.fields ?? {};
  const isCleaning = event === 'housekeeping' && end === undefined && note !== 'skipped';
  return {
    entry,
    isInHousekeeping: isCleaning && !entriesOf(log, ...DONE_WITH_ORPHANS).includes(entry),
  };
}

/** The end of the time that the log covers; undefined if no line has a time. */
export function endOfLog(log: KubeletLog): Date | undefined {
  const times = log.sources.flatMap(({ lastTime }) => lastTime ?? []);
  return times.toSorted((left, right) => left.getTime() - right.getTime()).at(-1);
}
