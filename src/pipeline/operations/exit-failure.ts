import type { ProgramResult } from '../../lib/process/run.ts';

/** How a program of an Operation ended that did not do its work. */
export interface ExitFailure {
  readonly why: string;
  /** As KubeDiag wrote it down, and programs read it: "exit status 3". */
  readonly error: string;
  /** It ended by itself, and what is wrong is its code alone. */
  readonly isCode?: true;
}

/** Undefined when it ended by itself, with code 0, and nobody that it started lives on. */
export function exitFailure(
  ended: ProgramResult,
  { timeoutMs, stop }: { readonly timeoutMs: number; readonly stop: AbortSignal },
): ExitFailure | undefined {
  if (ended.ended === 'not-started') {
    const why =
      ended.code === 'E2BIG'
        ? 'its arguments are more than the kernel takes together: give it fewer or shorter ones'
        : ended.why;
    return { why: `it was not started: ${why}`, error: ended.why };
  }
  if (ended.ended === 'deadline') {
    const { pid } = ended.abandoned ?? {};
    const left = pid === undefined ? '' : `; process ${pid} could not be killed and lives on`;
    const why = stop.aborted ? 'it was stopped' : `it did not end within ${timeoutMs / 1_000} s`;
    // As the program timeout says it, by which they were once run.
    return { why: `${why}${left}`, error: 'exit status 124' };
  }
  if (ended.ended === 'signal') {
    return { why: `it was ended by ${ended.signal}`, error: `signal: ${ended.signal}` };
  }
  const error = `exit status ${ended.code}`;
  if (ended.isHeld) {
    const why = 'it has ended, but a process that it started in a session of its own lives on';
    return { why, error };
  }
  return ended.code === 0
    ? undefined
    : { why: `it ended with code ${ended.code}`, error, isCode: true };
}
