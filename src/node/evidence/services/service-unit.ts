import { attempt, type Snapshot, type UnknownReason } from '../../model/evidence.ts';
import {
  type LogLines,
  type LogPlace,
  ReadError,
  type ReadFailure,
} from '../../model/node-reader.ts';
import { type Origin, originText } from '../../model/origin.ts';
import { COMM_CHARACTERS_MAX, CRASH_LOOP_MS, UNIT_LOG_BYTES } from '../limits.ts';
import { parseLogLine } from '../logs/log-line.ts';
import { type Fields, fieldsIn } from '../logs/log-signatures.ts';
import {
  UNIT_LITERALS,
  UNIT_SIGNATURE_LIST,
  type UnitSignatureId,
} from '../logs/log-signatures-of-units.ts';
import { dateOf, type LogClock, logClock } from '../logs/log-time.ts';
import { trustedFile } from '../processes/trusted-file.ts';

/** A service of the node, such as the kubelet: its state, and the events that led to it. */
export interface ServiceUnit {
  /** The state from systemd; not set if systemd could not be asked, or has no such unit. */
  readonly state?: UnitState;
  /** systemd has no such unit. */
  readonly hasNoUnit: boolean;
  /** Why systemd could not be asked; `isMissing` if the node has no systemctl. */
  readonly unasked?: UnknownReason & { readonly isMissing: boolean };
  /** Messages of systemd, the kernel and the service about its exit, oldest first. */
  readonly events: readonly UnitEvent[];
  /** The last lines of the service itself, oldest first. */
  readonly lastLines: readonly UnitLine[];
  /** Logs that could not be read, or not far enough back, and why. */
  readonly unread: readonly UnknownReason[];
}

export interface UnitState {
  /** "kubelet.service" */
  readonly unit: string;
  /** "active", "inactive", "failed", "activating" */
  readonly active: string;
  /** "running", "dead", "failed", "auto-restart" */
  readonly sub: string;
  /** "success", "exit-code", "signal", "oom-kill", "start-limit-hit" */
  readonly result: string;
  /** The exit code of its main process, or the number of the signal that killed it. */
  readonly status: string;
  readonly restarts: number;
  /** "enabled", "disabled", "masked" */
  readonly enabled: string;
  readonly since: string;
  /** systemd has a pending job for the unit, such as a start. */
  readonly hasJob: boolean;
  /** The output in one line, and the command. */
  readonly text: string;
  readonly origin: Origin;
}

export interface UnitLine {
  readonly text: string;
  readonly origin: Origin;
  readonly time?: Date;
}

export interface UnitEvent extends UnitLine {
  readonly what: UnitSignatureId;
  readonly fields: Fields;
}

export interface UnitQuestion {
  /** Possible names of the unit: the first one that systemd has loaded counts. */
  readonly units: readonly string[];
  /** The process names. */
  readonly programs: readonly string[];
  /** Log files that it may use if the journal has no lines of it. */
  readonly files: readonly string[];
  /** The service runs, so only its earlier exits are read: neither its state nor the kernel log. */
  readonly isRunning?: boolean;
}

const LAST_LINES = 3;

/** Only for a service that does not run as it should: this executes programs of the node. */
export async function serviceUnit(snapshot: Snapshot, asked: UnitQuestion): Promise<ServiceUnit> {
  const unread: UnknownReason[] = [];
  const state = asked.isRunning ? NOT_ASKED : await attempt(unitState(snapshot, asked.units));
  const unit = state.known ? state.value : undefined;
  const logs = await logsOf(snapshot, asked, unit?.unit ?? asked.units[0] ?? '', unread);
  const lines = inOrder(linesOf(logs, snapshot.node.now()));
  const isOfSystem = ({ text }: UnitLine) => OF_SYSTEMD.test(text) || OF_KERNEL.test(text);
  return {
    ...(unit ? { state: unit } : {}),
    hasNoUnit: !asked.isRunning && state.known && unit === undefined,
    ...(state.known ? {} : { unasked: { ...state, isMissing: state.error.failure === 'missing' } }),
    events: lines.flatMap((line) => eventsIn(line, asked)),
    lastLines: lines.filter((line) => !isOfSystem(line)).slice(-LAST_LINES),
    unread,
  };
}

const NOT_ASKED = { known: true, value: undefined } as const;

// 2026-04-04T16:39:58+0000 worker-7 systemd[1]: kubelet.service: Failed with result 'exit-code'.
const OF_SYSTEMD = /\bsystemd\[\d+\]: /;
// 2026-04-04T16:39:58+0000 worker-7 kernel: Out of memory: Killed process 4211 (kubelet)
const OF_KERNEL = /\bkernel: /;

const PROGRAMS = ['/usr/bin/systemctl', '/bin/systemctl'];

const PROPERTIES = [
  ...['Id', 'LoadState', 'ActiveState', 'SubState', 'Result', 'ExecMainStatus', 'NRestarts'],
  ...['UnitFileState', 'StateChangeTimestamp', 'Job'],
];

/** Undefined if systemd has no such unit. The call is read-only and has a time limit. */
async function unitState(
  snapshot: Snapshot,
  units: readonly string[],
): Promise<UnitState | undefined> {
  const failures: ReadError[] = [];
  for (const path of PROGRAMS) {
    const program = await attempt(trustedFile(snapshot, '', path));
    if (!program.known) {
      failures.push(program.error);
      continue;
    }
    const words = ['show', '--no-pager', `--property=${PROPERTIES.join(',')}`, ...units];
    const question = { program: program.value, arguments: words };
    const shown = await snapshot.node.ask('version', question);
    const blocks = shown.split(/\n\s*\n/).filter((block) => block.trim() !== '');
    if (blocks.length === 0 || !blocks.every(isAnswer)) {
      throw new ReadError('malformed', 'systemctl show', 'it does not say the state of the units');
    }
    const states = blocks.flatMap(stateIn);
    return states.find(({ active }) => active !== 'inactive') ?? states[0];
  }
  const unread = failures.find(({ failure }) => failure !== 'missing');
  throw unread ?? new ReadError('missing', 'systemctl', 'this node has none');
}

/** For an unknown unit, systemd prints LoadState=not-found. */
function isAnswer(block: string): boolean {
  return /^Id=\S/m.test(block) && LOAD_STATE.test(block) && ACTIVE_STATE.test(block);
}

// LoadState=loaded
const LOAD_STATE = /^LoadState=(?:loaded|not-found|masked|error|bad-setting|merged|stub)$/m;
// ActiveState=failed
const ACTIVE_STATE =
  /^ActiveState=(?:active|inactive|failed|activating|deactivating|reloading|refreshing|maintenance)$/m;

function stateIn(block: string): readonly UnitState[] {
  // ActiveState=failed
  const values = new Map(
    Array.from(block.matchAll(/^(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]),
  );
  const of = (name: string) => values.get(name) ?? '';
  const unit = of('Id');
  if (unit === '' || !['loaded', 'masked'].includes(of('LoadState'))) return [];
  return [
    {
      unit,
      active: of('ActiveState'),
      sub: of('SubState'),
      result: of('Result'),
      status: of('ExecMainStatus'),
      restarts: Number(of('NRestarts')) || 0,
      enabled: of('UnitFileState') || of('LoadState'),
      since: of('StateChangeTimestamp'),
      // Job=1234; without a job the line is missing, or 0.
      hasJob: Number(of('Job')) > 0,
      text: block.trim().split('\n').join(' '),
      origin: { command: `systemctl show ${unit}` },
    },
  ];
}

/**
 * Log files if there are any, the journal of the unit, and the kernel's lines about killed
 * processes. systemd's lines are also read separately: a verbose service would leave no space for
 * them.
 */
async function logsOf(
  snapshot: Snapshot,
  { units, programs, files, isRunning }: UnitQuestion,
  unit: string,
  unread: UnknownReason[],
): Promise<readonly ReadLog[]> {
  const ofSystemd = units.map((each) => `UNIT=${each}`);
  const fields = [
    ...units.flatMap((each) => [`_SYSTEMD_UNIT=${each}`, `UNIT=${each}`]),
    ...programs.map((comm) => `_COMM=${comm}`),
  ];
  const origin = { command: `journalctl --unit ${unit}` };
  const places: readonly AskedLog[] = [
    ...files.map((file) => ({ log: { file }, origin: { file }, containing: UNIT_LITERALS })),
    { log: { journal: ofSystemd }, origin, containing: UNIT_LITERALS, isOfSystemd: true },
    { log: { journal: fields }, origin, containing: UNIT_LITERALS },
    ...(isRunning ? [] : [KERNEL_LOG]),
  ];
  const logs: ReadLog[] = [];
  for (const place of places) {
    const { log, containing } = place;
    const question = { log, containing, lastBytes: UNIT_LOG_BYTES };
    const read = await attempt(snapshot.node.ask('log', question));
    if (!read.known) {
      if (!IS_NONE.has(read.error.failure)) unread.push(read);
      continue;
    }
    logs.push({ read: read.value, origin: place.origin });
    const cut = place.isOfSystemd ? tooShort(read.value, snapshot.node.now()) : undefined;
    if (cut !== undefined) unread.push({ why: `${originText(place.origin)}: ${cut}` });
  }
  return logs;
}

interface AskedLog {
  readonly log: LogPlace;
  readonly origin: Origin;
  readonly containing: readonly string[];
  readonly isOfSystemd?: true;
}

type ReadLog = Pick<AskedLog, 'origin'> & { readonly read: LogLines };

/** Why a log is too short to show the exits of a crash loop; undefined if it is long enough. */
function tooShort(read: LogLines, now: Date): string | undefined {
  if (read.isWhole) return undefined;
  const first = read.first === null ? undefined : timeOf(read.first, clockOf(read, now));
  if (first && now.getTime() - first.getTime() >= CRASH_LOOP_MS) return undefined;
  const since = first ? `, back to ${first.toISOString()}` : '';
  return `only its end was read${since}, so earlier ends are not known`;
}

const KERNEL_LOG: AskedLog = {
  log: { journal: ['_TRANSPORT=kernel'] },
  origin: { command: 'journalctl --dmesg' },
  containing: ['Killed process '],
};

/** There is no such log, or no program to print it. */
const IS_NONE: ReadonlySet<ReadFailure> = new Set(['missing', 'unsupported']);

/** A line in two logs is taken from the later log, where it is in the order of the other lines. */
function linesOf(logs: readonly ReadLog[], now: Date): readonly UnitLine[] {
  return logs.flatMap(({ read, origin }, index) => {
    const others = logs.slice(index + 1).filter((log) => log.origin === origin);
    const again = new Set(others.flatMap((log) => log.read.lines.map(({ text }) => text)));
    const clock = clockOf(read, now);
    return read.lines
      .filter(({ text }) => !again.has(text))
      .map(({ text }) => {
        const time = timeOf(text, clock);
        return { text, origin, ...(time ? { time } : {}) };
      });
  });
}

function clockOf(read: LogLines, now: Date): LogClock {
  const first = read.first === null ? undefined : parseLogLine(read.first).time;
  const last = read.last === null ? undefined : parseLogLine(read.last).time;
  return logClock({ first, last, modifiedMs: read.modifiedMs ?? undefined, now });
}

function timeOf(text: string, clock: LogClock): Date | undefined {
  const { time } = parseLogLine(text);
  return time && dateOf(time, clock);
}

/** Merges several logs by time. A line without a time stays after the line before it. */
function inOrder(lines: readonly UnitLine[]): readonly UnitLine[] {
  let ms = 0;
  return lines
    .map((line) => {
      ms = line.time?.getTime() ?? ms;
      return { line, ms };
    })
    .toSorted((left, right) => left.ms - right.ms)
    .map(({ line }) => line);
}

/** Events of this service: a journal of several units, or of the kernel, has other lines too. */
function eventsIn(line: UnitLine, { units, programs }: UnitQuestion): readonly UnitEvent[] {
  const { message } = parseLogLine(line.text);
  const comms = programs.map((program) => program.slice(0, COMM_CHARACTERS_MAX));
  return UNIT_SIGNATURE_LIST.flatMap(([what, signature]) => {
    const fields = fieldsIn(message, signature);
    if (!fields) return [];
    // The service itself may report that it started or stopped something.
    if (SYSTEMD_OUTPUT.includes(what) && !OF_SYSTEMD.test(line.text)) return [];
    if (fields.unit !== undefined && !units.includes(fields.unit)) return [];
    if (what === 'killed-for-memory' && !comms.includes(fields.name ?? '')) return [];
    return [{ ...line, what, fields }];
  });
}

const SYSTEMD_OUTPUT: readonly UnitSignatureId[] = [
  'unit-started',
  'unit-stopping',
  'unit-stopped',
];
