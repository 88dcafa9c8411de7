import { counted } from '../../../lib/std/counted.ts';
import type { Health } from '../../evidence/kubelet/health.ts';
import {
  endOfLog,
  entriesOf,
  type KubeletLog,
  type LogEntry,
  lastSyncLoop,
} from '../../evidence/logs/log-entries.ts';
import type { BusyLoop, SyncLoop } from '../../evidence/stacks/sync-loop.ts';
import type { SyncLoopDump } from '../../evidence/stacks/sync-loop-dump.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import type { Origin } from '../../model/origin.ts';

export interface LoopSources {
  readonly health: Maybe<Health>;
  readonly log: Maybe<KubeletLog>;
  readonly dump: Maybe<SyncLoopDump>;
}

/** What is known of the kubelet's sync loop, from any source. */
export interface Loop {
  /** Shown to stand still by something that carries time in itself; each piece of it alone does. */
  readonly still: readonly Proof[];
  /** It was seen to move, or to wait for work. */
  readonly moves?: Proof;
  /** A dump shows it in the clean-up of orphans, in a call on a file. */
  readonly amongOrphans?: Proof;
  /** It was there for a minute or more, or other proof shows that it stands still. */
  readonly isStuckThere: boolean;
  /** Whether it hangs there is open: this kind of dump has no times, and neither has anything else. */
  readonly isUntimedThere: boolean;
  /** A dump shows it somewhere else: not our cause. */
  readonly elsewhere?: Elsewhere;
  /** The log ends its work with the clean-up, and the health check says that it is dead. */
  readonly silentSinceHousekeeping: boolean;
  /** Its health check answers that it turns: it has begun a turn within the last five minutes. */
  readonly isWell: boolean;
  readonly since?: Date;
}

export interface Elsewhere {
  readonly cause: string;
  /** The stacks show it. What a log says of the runtime may be the loop's own doing. */
  readonly isShown: boolean;
  readonly advice: string;
  readonly proof: Proof;
}

/** A log that goes on for so long without the loop, once it logs every turn of it. */
const SILENCE_MS = 60_000;

export function loopOf({ health, log, dump }: LoopSources): Loop {
  const isWell = health.known && isWellNow(health.value);
  const isSaidWell = health.known && health.value.loop === 'ok';
  const fromLog = log.known ? loopInLog(log.value, isWell) : undefined;
  const { loop: seen, origin } = dump.known && dump.value.isAsked ? dump.value : NO_DUMP;
  const busy = seen?.state === 'blocked' || seen?.state === 'busy' ? seen : undefined;
  const dumped = busy && stackProof(busy, origin);
  const isOurs = busy !== undefined && waitsAmongOrphans(busy);
  const still: Proof[] = [];
  if (busy?.state === 'blocked' && dumped) still.push(dumped);
  if (health.known && health.value.loop === 'failing') still.push(healthProof(health.value));
  if (fromLog) still.push(...fromLog.still);
  const elsewhere = isOurs ? undefined : (shownIn(seen, origin) ?? saidIn(fromLog, seen));
  const isUntimed = busy?.minutes === null;
  const isUnhealthy =
    (health.known && health.value.loop === 'failing') || fromLog?.isUnhealthy === true;
  return {
    still,
    ...movesIn(seen, origin),
    ...(isOurs && dumped ? { amongOrphans: dumped } : {}),
    isStuckThere: isOurs && (busy.state === 'blocked' || (isUntimed && still.length > 0)),
    isUntimedThere: isOurs && isUntimed && still.length === 0 && !isSaidWell,
    ...(elsewhere ? { elsewhere } : {}),
    silentSinceHousekeeping: isUnhealthy && fromLog?.isInHousekeeping === true,
    isWell,
    ...(fromLog?.since ? { since: fromLog.since } : {}),
  };
}

/** A page that was asked for is newer than any line; of one that somebody sent that is not known. */
function isWellNow({ loop, origin }: Health): boolean {
  return loop === 'ok' && 'url' in origin;
}

const NO_DUMP = { loop: undefined, origin: { source: '' } };

function movesIn(seen: SyncLoop | undefined, origin: Origin): Pick<Loop, 'moves'> {
  if (seen?.state !== 'healthy') return {};
  return { moves: { claim: 'the sync loop waits for work', origin } };
}

/**
 * In a call on a path. Not in the removal of what may only be large, and not in a call of another
 * kind that was made there: a line of its log that it cannot write, for example.
 */
function waitsAmongOrphans({ isAmongOrphans, waitsFor, row }: BusyLoop): boolean {
  if (row && row.kind !== 'dead-mount') return false;
  return isAmongOrphans && waitsFor === 'path';
}

function stackProof({ minutes, branch, leaf, frames, id }: BusyLoop, origin: Origin): Proof {
  const where = branch === null ? '' : ` in ${branch}`;
  const long = minutes === null ? '' : ` for ${counted(minutes, 'minute')}`;
  const goroutine = id === null ? 'the sync loop' : `goroutine ${id}, the sync loop,`;
  return {
    claim: `${goroutine} waits${where}${long}, in ${leaf.function}`,
    text: frames.map((frame) => frame.function).join(' < '),
    origin,
  };
}

function healthProof({ text, origin }: Health): Proof {
  const claim = 'the kubelet itself reports that its sync loop is blocked (for 5 minutes or more)';
  return { claim, text, origin };
}

/** Stacks that show the loop somewhere, or at work, leave nothing to what the log says. */
function saidIn(fromLog: LoopInLog | undefined, seen: SyncLoop | undefined): Elsewhere | undefined {
  const isReported = seen !== undefined && seen.state !== 'unknown' && seen.state !== 'twice';
  return isReported ? undefined : fromLog?.elsewhere;
}

function shownIn(seen: SyncLoop | undefined, origin: Origin): Elsewhere | undefined {
  if (seen?.state === 'backing-off') {
    return {
      isShown: true,
      cause: 'the runtime, or the list of its events, is not ready, so the loop waits on purpose',
      advice: "read the kubelet's log for: Skipping pod synchronization",
      proof: { claim: 'the sync loop sleeps between two tries', origin },
    };
  }
  if (seen?.state !== 'blocked') return undefined;
  const { row, leaf } = seen;
  return {
    // A large directory takes its time, and so does a dead mount in it: the stack does not show which.
    isShown: row?.kind !== 'slow-folder',
    cause: row?.cause ?? `a call of ${leaf.function} that does not return`,
    advice: row?.advice ?? 'see its stack: kubediag stacks',
    proof: stackProof(seen, origin),
  };
}

interface LoopInLog {
  readonly still: readonly Proof[];
  readonly isInHousekeeping: boolean;
  readonly isUnhealthy: boolean;
  /** It turns, but does nothing on purpose: then its health check fails as well. */
  readonly elsewhere?: Elsewhere;
  readonly since?: Date;
}

/** Said by a loop that waits for the runtime, instead of its usual words. */
const WAITS_FOR_RUNTIME = ['sync-skipped', 'pleg-unhealthy', 'runtime-down'] as const;

function skippedIn(log: KubeletLog, since: Date | undefined): Elsewhere | undefined {
  const entry = entriesOf(log, ...WAITS_FOR_RUNTIME).at(-1);
  if (!entry || (since && entry.time && entry.time.getTime() < since.getTime())) return undefined;
  return {
    isShown: false,
    cause: 'the runtime, or the list of its events, is not ready, so the loop waits on purpose',
    advice: 'check the container runtime: its log, and crictl with a short --timeout',
    proof: { claim: 'it skips its work', text: entry.text, origin: entry.origin },
  };
}

/**
 * Every turn of the loop is logged from verbosity 4 on only, so an idle kubelet may well be silent.
 * But one that logs its clean-up logs it every two seconds: when that is the last of it, it hangs.
 */
function loopInLog(log: KubeletLog, isWell: boolean): LoopInLog {
  const last = lastSyncLoop(log);
  const complaint = entriesOf(log, 'sync-loop-unhealthy').at(-1);
  // A loop that was seen since is another story; so is a complaint of before.
  const isOld =
    isWell ||
    (complaint && ((last && isBefore(complaint, last.entry, log)) || isLongAgo(complaint, log)));
  const isUnhealthy = complaint !== undefined && !isOld;
  const still: Proof[] = [];
  if (complaint && isUnhealthy) {
    const claim = 'the health check of the sync loop failed';
    still.push({ claim, text: complaint.text, origin: complaint.origin });
  }
  const elsewhere = skippedIn(log, last?.entry.time);
  const skipped = elsewhere && isUnhealthy ? { elsewhere } : {};
  if (!last) return { still, isInHousekeeping: false, isUnhealthy, ...skipped };
  const { entry } = last;
  const isInHousekeeping = last.isInHousekeeping && !elsewhere;
  const end = endOfLog(log);
  const silenceMs = entry.time && end ? end.getTime() - entry.time.getTime() : 0;
  if (isInHousekeeping && silenceMs >= SILENCE_MS) {
    const claim = `the last line of the sync loop; the log continues for ${minutesOf(silenceMs)} without it`;
    still.push({ claim, text: entry.text, origin: entry.origin });
  }
  const { time } = entry;
  return { still, isInHousekeeping, isUnhealthy, ...skipped, ...(time ? { since: time } : {}) };
}

/** A failing health check is repeated every few seconds by the kubelet's watchdog. */
const COMPLAINT_MS = 30 * 60_000;

function isLongAgo({ time }: LogEntry, log: KubeletLog): boolean {
  const end = endOfLog(log);
  return time !== undefined && end !== undefined && end.getTime() - time.getTime() > COMPLAINT_MS;
}

/** The complaint is the second line of an entry in most versions, without a time of its own. */
function isBefore(one: LogEntry, other: LogEntry, { entries }: KubeletLog): boolean {
  if (one.time && other.time) return one.time.getTime() < other.time.getTime();
  return entries.indexOf(one) < entries.indexOf(other);
}

export function minutesOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return counted(minutes, 'minute');
}
