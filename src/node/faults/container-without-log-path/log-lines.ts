import {
  endOfLog,
  entriesOf,
  type KubeletLog,
  type LogEntry,
} from '../../evidence/logs/log-entries.ts';
import type { LogSignature } from '../../model/log-signature.ts';

/** A line in which the kubelet says that it could not remove something of its working directory. */
export interface Removal {
  readonly containerId: string;
  /** The name that stopped it: all names before it are gone. */
  readonly name: string;
  readonly time?: Date | undefined;
  readonly line: LogEntry;
}

/** In the order of the log. */
export function removalsIn(log: KubeletLog): readonly Removal[] {
  return entriesOf(log, REMOVE_RELATIVE_LOG).flatMap((line) => {
    const { containerId, name } = line.fields;
    if (containerId === undefined || name === undefined) return [];
    return [{ containerId, name, time: line.time, line }];
  });
}

/** What such a container causes while it still runs. It proves nothing by itself. */
export function suspicionsIn(log: KubeletLog): readonly LogEntry[] {
  return entriesOf(log, LOG_PATH_EMPTY, LOGGING_DISABLED, NAMELESS_SANDBOX);
}

const MINUTE_MS = 60_000;
/** Collections come once a minute, so after three of them without a line they have stopped. */
const FRESH_MS = 3 * MINUTE_MS;
/** How far a time may be off whose zone nobody knows. */
const ZONES_MS = 26 * 60 * MINUTE_MS;

/** Whether the collections still go on, as far as the log shows it. */
export function isFresh({ time }: Removal, log: KubeletLog): boolean {
  if (!time) return true;
  // The log is its own clock: a kubelet is never silent for long.
  const end = endOfLog(log);
  if (end && end.getTime() - time.getTime() > FRESH_MS) return false;
  // But it may have ended itself, or be that of another kubelet.
  if (!log.readAt) return true;
  const isTimed = log.sources.every(({ isZoneKnown }) => isZoneKnown);
  return log.readAt.getTime() - time.getTime() <= FRESH_MS + (isTimed ? 0 : ZONES_MS);
}

/** "; the log goes on for 25 h without another such line: ..." */
export function silenceAfter({ time }: Removal, log: KubeletLog): string {
  const end = endOfLog(log) ?? log.readAt;
  if (!time || !end) return '';
  const minutes = Math.floor((end.getTime() - time.getTime()) / MINUTE_MS);
  const healed = 'the container may be gone since';
  if (minutes < 3) return `; that was at ${time.toISOString()}, where this log ends: ${healed}`;
  const long = minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  return `; the log goes on for ${long} without another such line: ${healed}`;
}

/**
 * The kubelet removed what lies in its own working directory: the name has no slash before it, and
 * the removal repeats it. For a container with a log path the kubelet logs an absolute one.
 */
export const REMOVE_RELATIVE_LOG: LogSignature = {
  id: 'remove-relative-log',
  log: 'kubelet',
  literals: ['failed to remove container '],
  patterns: [
    // "Failed to remove container" err="failed to remove container "ca80..." log "boot": remove
    // boot: device or resource busy" containerID="ca80..."
    /failed to remove container "(?<containerId>[^"\s]+)" log "(?<name>[^"/][^"]*)": remove \k<name>: (?<error>[^"\n]+)/,
  ],
};

/** A container that runs and has no log path: said every ten seconds. */
export const LOG_PATH_EMPTY: LogSignature = {
  id: 'log-path-empty',
  log: 'kubelet',
  literals: ['Failed to stat container log', 'reopen container log failed'],
  patterns: [
    // "Failed to stat container log after reopen" err="stat : no such file or directory" path=""
    /Failed to stat container log after reopen"(?=[\s\S]*?containerID="?(?<containerId>[^"\s]+)|)(?=[\s\S]* path=""|[\s\S]*"stat : )/,
    // Failed to stat container log "" after reopen: stat : no such file or directory
    /Failed to stat container log "" after reopen/,
    // "Container log doesn't exist, reopen container log failed" path="" err="..."
    /reopen container log failed"(?=[\s\S]*?containerID="?(?<containerId>[^"\s]+)|)(?=[\s\S]* path="")/,
    // Container "ca80..." log "" doesn't exist, reopen container log failed: rpc error
    /Container "(?<containerId>[^"]+)" log "" doesn't exist, reopen container log failed/,
  ],
};

/** A runtime without a log path. */
const LOGGING_DISABLED: LogSignature = {
  id: 'logging-disabled',
  log: 'kubelet',
  literals: ['Logging will be disabled due to empty log paths'],
  patterns: [
    // Logging will be disabled due to empty log paths for sandbox ("") or container ("c/0.log")
    /empty log paths for sandbox \("(?<logFolder>[^"]*)"\) or container \("(?<logPath>[^"]*)"\)/,
  ],
};

/** A sandbox that was made without the kubelet, and has neither uid nor namespace. */
const NAMELESS_SANDBOX: LogSignature = {
  id: 'nameless-sandbox',
  log: 'kubelet',
  literals: ['metadata.Uid is not in metadata'],
  patterns: [
    // "PLEG: Write status" err="metadata.Name, metadata.Namespace or metadata.Uid is not in
    // metadata "name:"mqtt-kubeedge""" pod="mqtt-kubeedge"
    /metadata\.Uid is not in metadata "?(?=[\s\S]*?name:\s*"(?<sandbox>[^"]*)|)/,
  ],
};

export const LOG_SIGNATURES = [
  REMOVE_RELATIVE_LOG,
  LOG_PATH_EMPTY,
  LOGGING_DISABLED,
  NAMELESS_SANDBOX,
];
