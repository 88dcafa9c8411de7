import { CRASH_LOOP_EXITS_MIN } from '../../evidence/limits.ts';
import { isAskedFor, isCrashLoop } from '../../evidence/services/crash-loop.ts';
import type { ServiceUnit, UnitEvent, UnitState } from '../../evidence/services/service-unit.ts';
import { waitsForRestart } from '../../evidence/services/unit-change.ts';
import { sinceLastStart } from '../../evidence/services/unit-messages.ts';

/** How the kubelet ended, as far as it is known. */
export interface End {
  readonly reason: Reason;
  /** As a clause: "it was stopped". */
  readonly summary: string;
}

export function endOf({ state, events }: ServiceUnit): End {
  const last = sinceLastStart(events);
  const exited = last.findLast(({ what }) => what === 'unit-exited');
  const restarts = restartsIn(state, events);
  const memory = last.some(
    ({ what }) => what === 'unit-out-of-memory' || what === 'killed-for-memory',
  );
  if (state?.result === 'oom-kill' || memory || last.some(isOutOfMemory)) {
    return {
      reason: 'KubeletOutOfMemory',
      summary: 'the kernel killed it because memory ran out (OOM)',
    };
  }
  const stopped = stoppedOf(state);
  // Some exit with an error on SIGTERM, as k3s does.
  if (isStoppedOnRequest(last)) return stopped;
  const how = howItEnded(state, exited);
  const isRestarted = state === undefined || waitsForRestart(state);
  if (isRestarted && isLoop(state, events)) {
    return {
      reason: 'KubeletCrashLoop',
      summary: `${how ?? 'it ended'}, and systemd starts it again and again (${restarts} restarts so far)`,
    };
  }
  if (state && waitsForRestart(state)) {
    const summary = `${how ?? 'it ended'}; systemd starts it again in a moment`;
    return { reason: 'KubeletCrashed', summary };
  }
  const hasGivenUp =
    state?.result === 'start-limit-hit' || last.some(({ what }) => what === 'unit-gives-up');
  if (how !== undefined || state?.active === 'failed' || hasGivenUp) {
    const text = how ?? 'it failed';
    return {
      reason: 'KubeletCrashed',
      summary: hasGivenUp ? `${text}, and systemd no longer starts it again` : text,
    };
  }
  const isStopped = last.some(({ what }) => what === 'unit-stopped');
  if (state?.active === 'inactive' || isStopped) return stopped;
  return { reason: 'KubeletGone', summary: 'why it ended is not known' };
}

function stoppedOf(state: UnitState | undefined): End {
  const unit = state?.unit ?? 'its unit';
  const stopped = state?.since ? `has been stopped since ${state.since}` : 'is stopped';
  const stored = ['disabled', 'masked'].includes(state?.enabled ?? '')
    ? `, and is ${state?.enabled}: it does not start at boot either`
    : '';
  return { reason: 'KubeletStopped', summary: `${unit} ${stopped}${stored}` };
}

function isStoppedOnRequest(last: readonly UnitEvent[]): boolean {
  const at = last.findLastIndex(({ what }) => what === 'unit-exited' || what === 'unit-stopped');
  if (at < 0 || !isAskedFor(last, at)) return false;
  // What failed after it was stopped is the start that followed.
  const isStopped = last[at]?.what === 'unit-stopped';
  return !(isStopped && last.slice(at).some(({ what }) => what === 'unit-failed'));
}

/** systemd counts restarts for as long as the unit is loaded: a journal with their times is better. */
function isLoop(state: UnitState | undefined, events: readonly UnitEvent[]): boolean {
  if (events.some(({ what }) => what === 'unit-exited')) return isCrashLoop(events);
  return (state?.restarts ?? 0) >= CRASH_LOOP_EXITS_MIN;
}

function isOutOfMemory({ what, fields }: UnitEvent): boolean {
  return what === 'unit-failed' && fields.result === 'oom-kill';
}

function restartsIn(state: UnitState | undefined, events: readonly UnitEvent[]): number {
  const counted = events.findLast(({ what }) => what === 'unit-restarts')?.fields.count;
  return Math.max(state?.restarts ?? 0, Number(counted ?? 0));
}

/** Signals by their numbers, as systemd prints them. */
const SIGNALS: Readonly<Record<string, string>> = {
  ...{ '4': 'SIGILL', '6': 'SIGABRT', '7': 'SIGBUS', '9': 'SIGKILL', '11': 'SIGSEGV' },
  '15': 'SIGTERM',
};

function howItEnded(
  state: UnitState | undefined,
  exited: UnitEvent | undefined,
): string | undefined {
  if (state && state.result !== 'success') {
    const { result, status } = state;
    if (result === 'exit-code') return `it exited with code ${status}`;
    if (result === 'signal' || result === 'core-dump') {
      return `it was ended by signal ${SIGNALS[status] ?? status}`;
    }
    if (result === 'timeout' || result === 'watchdog') return `systemd ended it (${result})`;
  }
  if (!exited || exited.fields.status === '0') return undefined;
  const { code, status = '', name } = exited.fields;
  return code === 'exited'
    ? `it exited with code ${status}`
    : `it was ended by signal ${SIGNALS[status] ?? `${status} (${name})`}`;
}

export const reasons = {
  KubeletStopped: 'The kubelet was stopped, and nobody has started it again.',
  KubeletCrashed: 'The kubelet ended with an error or by a signal, and does not run.',
  KubeletOutOfMemory: 'The kernel killed the kubelet because memory ran out.',
  KubeletCrashLoop: 'The kubelet ends soon after each start, and is started again and again.',
  KubeletPaused: 'The process of the kubelet is stopped by a signal and waits to be continued.',
  KubeletGone: 'No kubelet runs on this node; why is not known.',
  NotANode: 'No kubelet runs here, and nothing shows that this machine is a node.',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;
