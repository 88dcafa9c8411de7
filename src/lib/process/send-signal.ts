import { readFileSync } from 'node:fs';
import { messageOf } from '../std/message-of.ts';
import { startTimeOf } from '../std/start-time-of.ts';

/** A process, named for ever by when it began: a later one may have its number. */
export interface NamedProcess {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks since boot. */
  readonly startTime: string;
}

/**
 * Sends a signal, unless the process of this number is another one here: it has ended since, or we
 * are in a PID namespace in which numbers mean others. Returns why it was not sent.
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
