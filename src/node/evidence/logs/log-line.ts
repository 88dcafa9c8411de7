import { jsonValue, listAt, numberAt, textAt } from '../../../lib/std/json.ts';

/** A log line without the prefixes of journals, runtimes and loggers. */
export interface LogMessage {
  /** The message with every quote unescaped, from any depth. */
  readonly message: string;
  readonly time: LogTime | undefined;
}

/** Some loggers omit the zone, the year, or both. */
export interface LogTime {
  /** yearless: local time of the node, as if in UTC in 1972. zoneless: with a year. */
  readonly kind: 'exact' | 'yearless' | 'zoneless';
  readonly ms: number;
}

/**
 * Nested formats in one line: JSON of a journal around the format of a runtime around klog is
 * three.
 */
const WRAPPINGS_MAX = 6;

export function parseLogLine(line: string): LogMessage {
  let text = line;
  let time: LogTime | undefined;
  for (let depth = 0; depth < WRAPPINGS_MAX; depth += 1) {
    const inner = fromJson(text) ?? fromHeader(text);
    if (!inner) break;
    // The outermost time counts, unless an inner one is more exact.
    if (time?.kind !== 'exact') time = inner.time ?? time;
    text = inner.text;
  }
  return { message: bareQuotes(text), time };
}

interface Unwrapped {
  readonly text: string;
  readonly time?: LogTime | undefined;
}

/** A JSON line: of klog, of Docker's log files, or of `journalctl -o json`. */
function fromJson(text: string): Unwrapped | undefined {
  const start = text.indexOf('{"');
  if (start < 0 || !text.trimEnd().endsWith('}') || text.slice(0, start).trim() !== '') {
    return undefined;
  }
  const value = jsonValue(text)?.value;
  const log = textAt(value, 'log');
  if (log !== undefined)
    return { text: log.replace(/\r?\n$/, ''), time: isoTime(textAt(value, 'time')) };
  const said = textAt(value, 'MESSAGE') ?? textOfBytes(listAt(value, 'MESSAGE'));
  if (said !== undefined) return { text: said, time: journalTime(value) };
  return textAt(value, 'msg') === undefined ? undefined : fromFields(value as object);
}

/** klog and others: {"ts":1681724155243.1,"caller":"...","msg":"...","err":"..."} */
function fromFields(value: object): Unwrapped {
  const { ts, time, msg, err, caller: _, ...rest } = value as Record<string, unknown>;
  // The error first, as in the text format.
  const said = err === undefined ? rest : { err, ...rest };
  const pairs = Object.entries(said).map(([name, each]) => `${name}=${quotedValue(each)}`);
  return {
    text: [`"${String(msg)}"`, ...pairs].join(' '),
    time: numericTime(ts) ?? isoTime(typeof ts === 'string' ? ts : String(time)),
  };
}

function quotedValue(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : JSON.stringify(value);
}

/** klog counts milliseconds since 1970, and zap seconds: no log is from before 1973. */
function numericTime(ts: unknown): LogTime | undefined {
  if (typeof ts !== 'number' || !Number.isFinite(ts)) return undefined;
  return { kind: 'exact', ms: Math.trunc(ts > 1e11 ? ts : ts * 1000) };
}

function journalTime(value: unknown): LogTime | undefined {
  const micros = Number(
    textAt(value, '__REALTIME_TIMESTAMP') ?? numberAt(value, '__REALTIME_TIMESTAMP'),
  );
  return Number.isFinite(micros) ? { kind: 'exact', ms: Math.trunc(micros / 1000) } : undefined;
}

/** journalctl prints a message that is not UTF-8 as a list of its bytes. */
function textOfBytes(bytes: readonly unknown[] | undefined): string | undefined {
  if (!bytes?.every((byte) => typeof byte === 'number')) return undefined;
  return bytes.map((byte) => String.fromCharCode(byte)).join('');
}

// 2026-11-15T08:12:12.600016015Z stderr F E1115 08:12:12.600016 ...
// 2026-11-15T08:12:12+0000 node-1 kubelet[8904]: E1115 08:12:12.600016 ...
// 2026-11-15 08:12:12.600 +00:00 [...]
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d+)?)\s?(Z|[+-]\d\d:?\d\d)?\s+/;

// stderr F E1115 ...; stdout P ...
const CRI = /^std(?:out|err) [FP](?:\S*) /;

// Apr 17 09:35:55 edge edgecore[8904]: E0417 ...; Apr 17 09:35:55.123456 edge kubelet: ...
const SYSLOG = /^(?:<\d+>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d(?:\.\d+)?) /;

// edge edgecore[8904]: E0417 ...; node-1 kubelet: E0428 ...
const SPEAKER = /^[\w.:-]+ [\w.@()-]+(?:\[\d+\])?: /;

// E0417 09:35:55.243111    8904 kuberuntime_gc.go:146] "Failed to remove container" ...
// kubelet.INFO:77:I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)
const KLOG =
  /^(?:[^\s"{]*[:>-]\s*)?([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\s+\d+ [^\s\]]+:\d+\] ?/;

// time="2026-11-15T08:12:12.600016015Z" level=info msg="Logging will be disabled ..."
const LOGRUS = /^time="([^"]+)" level=\w+ msg="([\s\S]*)$/;

// MESSAGE=E0417 09:35:55.243111 ... of "-o export";   "MESSAGE" : "E0417 ... of "-o json-pretty"
const EXPORT = /^(?:MESSAGE=|\s+"MESSAGE" : ")/;

// Log file created at: 2026/03/30 15:58:27
const CREATED = /^Log file created at: (\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d)/;

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';

function fromHeader(text: string): Unwrapped | undefined {
  const klog = KLOG.exec(text);
  if (klog) {
    const [all, , month = '', day = '', clock = ''] = klog;
    return { text: text.slice(all.length), time: yearless(month, day, clock) };
  }
  const iso = ISO.exec(text);
  if (iso) {
    const [all, day = '', clock = '', zone] = iso;
    return { text: afterSpeaker(text.slice(all.length)), time: dated(day, clock, zone) };
  }
  const syslog = SYSLOG.exec(text);
  if (syslog) {
    const [all, name = '', day = '', clock = ''] = syslog;
    const month = String(MONTHS.indexOf(name) / 3 + 1).padStart(2, '0');
    const time = yearless(month, day.padStart(2, '0'), clock);
    return { text: afterSpeaker(text.slice(all.length)), time };
  }
  const logrus = LOGRUS.exec(text);
  if (logrus) return { text: logrus[2] ?? '', time: isoTime(logrus[1]) };
  const created = CREATED.exec(text);
  if (created) {
    const [all, year, month, day, clock = ''] = created;
    return {
      text: text.slice(all.length),
      time: dated(`${year}-${month}-${day}`, clock, undefined),
    };
  }
  const [field] = EXPORT.exec(text) ?? [];
  return field === undefined ? undefined : { text: text.slice(field.length) };
}

function afterSpeaker(text: string): string {
  return CRI.test(text) ? text.replace(CRI, '') : text.replace(SPEAKER, '');
}

function dated(day: string, clock: string, zone: string | undefined): LogTime | undefined {
  // journalctl prints +0000 for +00:00.
  const offset =
    zone === undefined || zone === 'Z' ? 'Z' : zone.replace(/(\d\d):?(\d\d)$/, '$1:$2');
  const ms = Date.parse(`${day}T${milliseconds(clock)}${offset}`);
  if (Number.isNaN(ms)) return undefined;
  return { kind: zone === undefined ? 'zoneless' : 'exact', ms };
}

function yearless(month: string, day: string, clock: string): LogTime | undefined {
  // 1972 is a leap year.
  const ms = Date.parse(`1972-${month}-${day}T${milliseconds(clock)}Z`);
  return Number.isNaN(ms) ? undefined : { kind: 'yearless', ms };
}

/** A Date has only milliseconds, and not every parser accepts more digits. */
function milliseconds(clock: string): string {
  return clock.replace(',', '.').replace(/(\.\d{3})\d+$/, '$1');
}

function isoTime(text: string | undefined): LogTime | undefined {
  const [, day = '', clock = '', zone] = ISO.exec(`${text ?? ''} `) ?? [];
  return day === '' ? undefined : dated(day, clock, zone);
}

/** Unescapes quotes and line breaks of any depth. */
function bareQuotes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\+(["n]?)/g, (all, next: string) =>
    next === '' ? all : next === 'n' ? '\n' : next,
  );
}

/** A header that parses to the same time, for a line that is written again. */
export function headerOf(time: LogTime | undefined): string {
  if (!time) return '';
  const iso = new Date(time.ms).toISOString();
  switch (time.kind) {
    case 'exact':
      return `${iso} stderr F `;
    case 'zoneless':
      return `${iso.slice(0, -1)} stderr F `;
    case 'yearless':
      // 1972-04-17T09:35:55.243Z as in "E0417 09:35:55.243 ..."
      return `I${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, -1)} 1 redacted.go:1] `;
  }
}
