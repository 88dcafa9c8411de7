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

/** One thing that a log says. A line that says two things gives two entries. */
export interface LogEntry {
  /** The name of what it says. */
  readonly signature: string;
  /** Absent when the line has no time. */
  readonly time?: Date;
  /** What was said, without what was wrapped around it, every quote bare. */
  readonly message: string;
  /** By signature: `containerId`, `name`, `error`, `podUid`, `path`, `volume`... */
  readonly fields: Fields;
  /** "/var/log/kubelet.INFO:123", "journalctl _COMM=kubelet". */
  readonly origin: Origin;
  /** The line as it stands in the log. */
  readonly text: string;
}

/** One file or journal that was read, and which time it covers. */
export interface LogSource extends Pick<LogLines, 'linesRead' | 'bytesRead' | 'isWhole'> {
  readonly origin: Origin;
  /** Absent when the line there has no time that we can read. */
  readonly firstTime?: Date;
  readonly lastTime?: Date;
  /** False when the zone of its times is not known: they were taken for UTC. */
  readonly isZoneKnown: boolean;
}

/** What the kubelet said, as far as it is one of the things that we know to read. */
export interface KubeletLog {
  readonly sources: readonly LogSource[];
  /** Oldest first; those without a time where they stood. */
  readonly entries: readonly LogEntry[];
  /** The number of lines with the text of a signature, including those that were dropped. */
  readonly counts: Readonly<Record<string, number>>;
  /** Signatures that nobody looked for when this log was recorded: of these nothing is known. */
  readonly unasked: readonly string[];
  /** Logs that should be there and could not be read, with why. */
  readonly unread: readonly string[];
  /** When a node was asked for it; absent of a text that somebody sent. */
  readonly readAt?: Date;
}

export interface LogOptions {
  /** The moment at which the log was read, for lines without a year. */
  readonly now: Date;
  readonly modifiedMs?: number;
  /** What is looked for; unless given, what evidence itself reads. */
  readonly signatures?: readonly LogSignature[];
}

/** What a loose text says that is a log, or holds lines of one. */
export function kubeletLogOf(text: string, file: string, options: LogOptions): KubeletLog {
  return logOfLines(linesIn([readable(text)], options), { file }, options);
}

// {"__REALTIME_TIMESTAMP":"1776418555243111","MESSAGE":[69,48,52,49,55]}
const BYTES = /^.*"MESSAGE"\s*:\s*\[[\d,\s]+\].*$/gm;

/** journalctl prints a message that is no UTF-8 as a list of bytes, in which no word is found. */
function readable(text: string): string {
  if (!text.includes('"MESSAGE"')) return text;
  return text.replace(BYTES, (line) => {
    const { time, message } = parseLogLine(line);
    return `${headerOf(time)}${message.replaceAll('\n', '\\n')}`;
  });
}

/** The lines of a text that hold something we look for, however it is cut into pieces. */
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

/** What the lines of one log say. */
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

/** The last line may be the end of a longer message; then the last retained one has to do. */
function lastTimeIn({ lines, last }: LogLines): LogTime | undefined {
  const time = last === null ? undefined : parseLogLine(last).time;
  if (time) return time;
  const timed = lines.findLast(({ text }) => parseLogLine(text).time);
  return timed && parseLogLine(timed.text).time;
}

/** Lines are counted from where we began to read, and a journal has no numbers. */
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

/** Several logs of one kubelet, or several parts of one log, as one. */
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

/** A line without a time belongs to the one before it. */
function withTimes(entries: readonly LogEntry[]): readonly { entry: LogEntry; ms: number }[] {
  let ms = 0;
  return entries.map((entry) => {
    ms = entry.time?.getTime() ?? ms;
    return { entry, ms };
  });
}

/** What a log says of these: by the name of what evidence reads, or as a fault declares it. */
export function entriesOf(
  log: KubeletLog,
  ...signatures: readonly (SignatureId | LogSignature)[]
): readonly LogEntry[] {
  const ids = new Set<string>(
    signatures.map((each) => (typeof each === 'string' ? each : each.id)),
  );
  return log.entries.filter(({ signature }) => ids.has(signature));
}

/** The last sign of life of the sync loop. */
export interface LastSyncLoop {
  readonly entry: LogEntry;
  /** It began to clean up, and did not say that it was done; kubelets before 1.22 never say so. */
  readonly isInHousekeeping: boolean;
}

/** Said by the loop itself once it is through with the orphans of one turn. */
const DONE_WITH_ORPHANS: readonly SignatureId[] = ['orphaned-pod', 'orphans-not-cleaned'];

/** Its turns are logged from verbosity 4 on, but what it sees while it cleans up is always logged. */
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

/** Until when we know what the kubelet said; undefined when no line has a time. */
export function endOfLog(log: KubeletLog): Date | undefined {
  const times = log.sources.flatMap(({ lastTime }) => lastTime ?? []);
  return times.toSorted((left, right) => left.getTime() - right.getTime()).at(-1);
}
