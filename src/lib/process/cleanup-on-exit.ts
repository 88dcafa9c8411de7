import { type ChildProcess, spawn } from 'node:child_process';
import { killGraceMs, termGraceMs } from './limits.ts';
import { PLAIN_ENVIRONMENT, systemProgram } from './system-program.ts';

export interface ChildResources {
  /** A folder of it and the files therein, which nobody else would remove once we are killed. */
  readonly scratch?: readonly string[];
}

/**
 * Its input ends when we do, however we end: then it kills the group $0, and removes those files one by
 * one, for a program may have mounted anything beside them. Its clock is for the case that we live and
 * cannot act, such as in a frozen cgroup. A shell needs no other program but for these last two.
 */
const WATCH = `
{ sleep "$1" && kill -9 "-$0"; } &
shift
read -r _
kill -9 "-$0"
rm -f -- "$@"
rmdir -- "$1"
kill -9 0
`;

/** The caller kills the group of this watcher when the program has ended. */
export function cleanUpOnExit(
  group: number,
  deadlineMs: number,
  { scratch = [] }: ChildResources,
): ChildProcess | undefined {
  const seconds = Math.ceil((deadlineMs + termGraceMs + killGraceMs) / 1_000) + 1;
  try {
    const shell = systemProgram('sh') ?? '/bin/sh';
    const watcher = spawn(shell, ['-c', WATCH, String(group), String(seconds), ...scratch], {
      cwd: '/',
      // Out of reach of the process that it watches, and of Ctrl-C.
      detached: true,
      env: PLAIN_ENVIRONMENT,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Where there is no shell, the limits that we keep ourselves must do.
    watcher.on('error', () => {});
    watcher.stdin?.on('error', () => {});
    return watcher;
  } catch {
    return undefined; // No memory, for example: the same.
  }
}
