import { readFileSync } from 'node:fs';
import { messageOf } from '../std/message-of.ts';
import { startTimeOf } from '../std/start-time-of.ts';

/** A process, identified by PID and start time: a later process may reuse the PID. */
export interface NamedProcess {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks since boot. */
  readonly startTime: string;
}

/**
 * Sends a signal, unless the PID belongs to another process here: the first one has exited, or we
 * are in another PID namespace. Returns why the signal was not sent.
 */
export function sendSignal(
  { pid, startTime }: NamedProcess,
  signal: 'SIGUSR1' | 'SIGKILL',
): string | undefined {
  try {
    const here = startTimeOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    if (String(here) !== startTime)
      return `process ${pid} is another one by now, or seen from here`;
    process.kill(pid, signal);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
