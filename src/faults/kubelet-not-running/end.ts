import type { ServiceUnit, UnitEvent, UnitState } from '../../evidence/service-unit.ts';
import { sinceLastStart } from '../../evidence/unit-words.ts';
import type { Reason } from './reasons.ts';

/** How the kubelet came to its end, as far as anybody tells. */
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
  const how = howItEnded(state, exited);
  if (state?.sub === 'auto-restart' || (!state && isCrashLoop(events))) {
    const count = restarts === 1 ? '1 restart' : `${restarts} restarts`;
    return {
      reason: 'KubeletCrashLoop',
      summary: `${how ?? 'it ended'}, and systemd starts it again and again (${count} so far)`,
    };
  }
  const hasGivenUp =
    state?.result === 'start-limit-hit' || last.some(({ what }) => what === 'unit-gives-up');
  if (how !== undefined || state?.active === 'failed' || hasGivenUp) {
    const words = how ?? 'it failed';
    return {
      reason: 'KubeletCrashed',
      summary: hasGivenUp ? `${words}, and systemd no longer starts it again` : words,
    };
  }
  const isStopped = last.some(({ what }) => what === 'unit-stopped');
  if (state?.active === 'inactive' || isStopped) {
    const unit = state?.unit ?? 'its unit';
    const since = state?.since ? ` since ${state.since}` : '';
    const kept = ['disabled', 'masked'].includes(state?.enabled ?? '')
      ? `, and is ${state?.enabled}: it does not start at boot either`
      : '';
    return { reason: 'KubeletStopped', summary: `${unit} is stopped${since}${kept}` };
  }
  return { reason: 'KubeletGone', summary: 'why it ended is not known' };
}

function isOutOfMemory({ what, fields }: UnitEvent): boolean {
  return what === 'unit-failed' && fields.result === 'oom-kill';
}

function restartsIn(state: UnitState | undefined, events: readonly UnitEvent[]): number {
  const counted = events.findLast(({ what }) => what === 'unit-restarts')?.fields.count;
  return Math.max(state?.restarts ?? 0, Number(counted ?? 0));
}

/** So many ends within this time are no accident: systemd starts the kubelet again after 10 s. */
const EXITS_MIN = 3;
const EXITS_MS = 10 * 60_000;

export function isCrashLoop(events: readonly UnitEvent[]): boolean {
  return recentExits(events).length >= EXITS_MIN;
}

/** Not those of `systemctl restart`: a kubelet that is told to end does so without an error. */
export function recentExits(events: readonly UnitEvent[]): readonly UnitEvent[] {
  const last = events.at(-1)?.time?.getTime() ?? 0;
  return events.filter(
    ({ what, fields, time }) =>
      what === 'unit-exited' &&
      fields.status !== '0' &&
      fields.name !== 'TERM' &&
      last - (time?.getTime() ?? 0) < EXITS_MS,
  );
}

/** Signals by their numbers, as systemd tells them. */
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
