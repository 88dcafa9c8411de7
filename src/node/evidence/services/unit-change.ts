import type { UnitState } from './service-unit.ts';

const CHANGING = ['activating', 'deactivating', 'reloading', 'refreshing'];

/** What systemd is doing with a unit right now; undefined if no change is in progress. */
export function changeUnderWay(state: UnitState | undefined): string | undefined {
  if (!state || waitsForRestart(state)) return undefined;
  const { unit, active, sub, hasJob } = state;
  if (CHANGING.includes(active)) {
    return `systemd is just starting or stopping ${unit}: it is ${active} (${sub}); check again`;
  }
  if (!hasJob || active === 'active') return undefined;
  return `systemd has a job queued for ${unit}, as for a start; check again`;
}

/** It exited with an error, and systemd restarts it after a delay. */
export function waitsForRestart({ sub }: UnitState): boolean {
  // auto-restart; since systemd 254 also auto-restart-queued
  return sub.startsWith('auto-restart');
}
