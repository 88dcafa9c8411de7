import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface CompanionCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The complete environment; by default our own. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Our open file descriptors that it inherits as 3, 4 and so on. */
  readonly files?: readonly number[];
  /** Starts it in our process group, so that it gets the signals of the group. */
  readonly isOfOurGroup?: boolean;
  /** It calls `dieWithParent`, and gets a pipe for it. Not together with `files`. */
  readonly diesWithUs?: boolean;
}

export interface CompanionEvents {
  readonly onOutput: (chunk: Buffer) => void;
  /** Gets its standard error, which is otherwise discarded. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
  /** It exited, or could not be started: then without `exit`. Not called after `abandon`. */
  readonly onEnd: (why: string, exit?: CompanionExit) => void;
  /** It exited after `abandon`. */
  readonly onGone?: () => void;
}

/** As Node.js reports it: one of the two is null. */
export interface CompanionExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A long-running child process with pipes, which can be abandoned at any time. */
export interface Companion {
  readonly pid: number;
  write(bytes: Buffer): void;
  /** Closes its standard input, on which many programs exit. */
  endInput(): void;
  /** Whether we wait for it: otherwise it does not prevent our exit. */
  hold(held: boolean): void;
  /** Whether no process of its own group is left: one that it has started may outlive it. */
  isGone(): boolean;
  /** Kills it without waiting for its exit: a process on a dead mount cannot exit. */
  abandon(): void;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable | null>;

export function startCompanion(command: CompanionCommand, events: CompanionEvents): Companion {
  let isAbandoned = false;
  const end: CompanionEvents['onEnd'] = (why, exit) => {
    if (!isAbandoned) events.onEnd(why, exit);
  };
  const child = started(command, events.onErrorOutput !== undefined, (error) =>
    end(`it could not be started: ${error.message}`),
  );
  child?.on('exit', (code, signal) => {
    if (isAbandoned) events.onGone?.();
    else end(`it ended with ${signal ?? `code ${code}`}`, { code, signal });
  });
  // Without free file descriptors, spawn returns a child without pipes.
  child?.stdout?.on('data', events.onOutput);
  child?.stderr?.on('data', (chunk: Buffer) => events.onErrorOutput?.(chunk));
  child?.stderr?.on('error', () => {});
  // Write errors are ignored: the exit has its own event.
  child?.stdin?.on('error', () => {});
  child?.stdout?.on('error', () => {});
  const pipes: readonly (Readable | Writable | null | undefined)[] | undefined = child?.stdio;
  const lifeline = command.diesWithUs ? pipes?.[3] : undefined;
  lifeline?.on('error', () => {});

  const handles = [child, child?.stdin, child?.stdout, child?.stderr, lifeline] as ({
    ref?(): void;
    unref?(): void;
  } | null)[];
  return {
    pid: child?.pid ?? 0,
    write: (bytes) => void child?.stdin?.write(bytes),
    endInput: () => void child?.stdin?.end(),
    hold: (held) => {
      for (const handle of handles) {
        if (held) handle?.ref?.();
        else handle?.unref?.();
      }
    },
    isGone: () => !isGroupThere(child?.pid),
    abandon: () => {
      isAbandoned = true;
      kill(child?.pid, command.isOfOurGroup ? 'process' : 'group');
      child?.unref();
      child?.stdin?.destroy();
      child?.stdout?.destroy();
      child?.stderr?.destroy();
      lifeline?.destroy();
    },
  };
}

function started(
  command: CompanionCommand,
  hearsErrors: boolean,
  fail: (error: Error) => void,
): Child | undefined {
  try {
    const child = spawn(command.program, command.arguments, {
      // In its own group it does not get Ctrl-C: we decide when it ends.
      detached: !command.isOfOurGroup,
      stdio: [
        ...(['pipe', 'pipe', hearsErrors ? 'pipe' : 'ignore'] as const),
        ...(command.diesWithUs ? (['pipe'] as const) : (command.files ?? [])),
      ],
      cwd: '/',
      ...(command.environment ? { env: command.environment } : {}),
    });
    return child.on('error', fail) as Child;
  } catch (error) {
    // Most errors are events, but out of memory `spawn` throws. Reported later, like the events.
    setImmediate(() => fail(error as Error));
    return undefined;
  }
}

function isGroupThere(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

function kill(pid: number | undefined, whom: 'process' | 'group'): void {
  if (pid === undefined) return;
  try {
    process.kill(whom === 'group' ? -pid : pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it has already exited.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
