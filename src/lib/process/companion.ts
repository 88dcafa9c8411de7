import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface CompanionCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The whole of it; by default our own. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Open files of ours that it gets too, as its numbers 3, 4 and so on. */
  readonly files?: readonly number[];
  /** It stays in our process group, so that a signal to the group reaches it too. */
  readonly isOfOurGroup?: boolean;
  /** It calls `dieWithParent`, for which it gets a pipe that ends when we do. Not beside `files`. */
  readonly diesWithUs?: boolean;
}

export interface CompanionEvents {
  readonly onOutput: (chunk: Buffer) => void;
  /** What it writes as errors; without it they are thrown away. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
  /** It ended, or could not be started: then it has no exit. Not called once it was abandoned. */
  readonly onEnd: (why: string, exit?: CompanionExit) => void;
  /** It was abandoned, and has died since. */
  readonly onGone?: () => void;
}

/** As Node.js reports it: one of the two is null. */
export interface CompanionExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child we talk to over pipes for as long as we like, and can leave behind at any moment. */
export interface Companion {
  readonly pid: number;
  write(bytes: Buffer): void;
  /** That there is nothing more to be said: many a program ends then. */
  endInput(): void;
  /** Whether we wait for it: a companion nobody waits for does not keep us alive. */
  hold(held: boolean): void;
  /** Kills it and forgets it, whether or not it can die: a process on a dead mount cannot. */
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
  // With no file descriptors left there is a child object, but it has no pipes.
  child?.stdout?.on('data', events.onOutput);
  child?.stderr?.on('data', (chunk: Buffer) => events.onErrorOutput?.(chunk));
  child?.stderr?.on('error', () => {});
  // A write error is ignored: the exit has its own event.
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
      // Ctrl-C is for us; we decide what becomes of the child.
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
    // Most errors come as an event, but without memory `spawn` throws. Reported later, as the others.
    setImmediate(() => fail(error as Error));
    return undefined;
  }
}

function kill(pid: number | undefined, whom: 'process' | 'group'): void {
  if (pid === undefined) return;
  try {
    process.kill(whom === 'group' ? -pid : pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it is gone already, which is what we want.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
