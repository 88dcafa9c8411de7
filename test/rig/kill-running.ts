import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { childOf, killIfThere } from '../../lab/process-mark.ts';
import { eventually } from './agent-on-node.ts';
import type { Running } from './run-kubediag.ts';

export interface Blow {
  readonly afterMs: number;
  readonly signal?: NodeJS.Signals;
}

export interface Killed {
  /** False when the program was faster. */
  readonly isInTime: boolean;
  readonly tookMs: number;
}

/** Sends a signal to a program on a node after some time. */
export async function killRunning(
  { child, end }: Running,
  { afterMs, signal = 'SIGKILL' }: Blow,
): Promise<Killed> {
  child.stdin?.end();
  // What entered the namespaces for the program is its parent.
  const pid = await eventually('the process of the program', () => childOf(child.pid ?? 0));
  await Promise.race([sleep(afterMs), end]);
  killIfThere(pid, signal);
  const ended = await end;
  expect([signal, null]).toContain(ended.signal);
  return { isInTime: ended.signal === signal, tookMs: ended.tookMs };
}
