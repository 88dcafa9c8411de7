import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { messageOf } from '../std/message-of.ts';
import { PLAIN_ENVIRONMENT } from './run.ts';

export interface DaemonCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The whole of it: nothing is inherited. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** Takes what it writes as errors, behind what is there. */
  readonly logFile: string;
  /** How long it may take until it says "ready", or until it is seen to run if it says nothing. */
  readonly deadlineMs: number;
  /** Says "ready" on its output and nothing more there. silent: all that it prints is for the log. */
  readonly manner: 'says-ready' | 'silent';
}

export type DaemonStart =
  | { readonly started: true; readonly pid: number }
  | { readonly started: false; readonly why: string };

/** Starts a program in a session of its own that lives on when we end. Never rejects. */
export async function startDaemon(command: DaemonCommand): Promise<DaemonStart> {
  const { promise, resolve } = Promise.withResolvers<DaemonStart>();
  const fail = (why: string) => resolve({ started: false, why });
  let log: number | undefined;
  try {
    log = openSync(command.logFile, 'a', 0o600);
    const child = spawn(command.program, command.arguments, {
      cwd: command.folder ?? '/',
      detached: true,
      env: command.environment ?? PLAIN_ENVIRONMENT,
      stdio: ['ignore', command.manner === 'silent' ? log : 'pipe', log],
    });
    const timer = setTimeout(() => {
      fail(`it was not ready within ${command.deadlineMs / 1_000} s`);
      child.kill('SIGKILL');
    }, command.deadlineMs);
    const { pid } = child;
    const succeed = () => pid !== undefined && resolve({ started: true, pid });
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code, signal) => fail(`it ended with ${signal ?? `code ${code}`}`));
    if (child.stdout) child.stdout.once('data', succeed);
    else child.once('spawn', succeed);
    const result = await promise;
    clearTimeout(timer);
    child.stdout?.destroy();
    child.unref();
    return result;
  } catch (error) {
    return { started: false, why: messageOf(error) }; // A log that cannot be opened, for example.
  } finally {
    if (log !== undefined) closeSync(log);
  }
}
