import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { messageOf } from '../std/message-of.ts';
import { PLAIN_ENVIRONMENT } from './run.ts';

export interface DaemonCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The complete environment: nothing is inherited. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** Its standard error is appended to this file. */
  readonly logFile: string;
  /** The time limit until it prints "ready", or until it runs if it is silent. */
  readonly deadlineMs: number;
  /** says-ready: prints only "ready" to its standard output. silent: all output goes to the log. */
  readonly manner: 'says-ready' | 'silent';
}

export type DaemonStart =
  | { readonly started: true; readonly pid: number }
  | { readonly started: false; readonly why: string };

/** Starts a program in its own session, where it outlives this process. Never rejects. */
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
