import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

export interface ForegroundCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The complete environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** The receiver of signals that are sent to us: a program may only wait for its child. */
  readonly isReceivedBy: 'itself' | 'its child';
  /** It creates another terminal and gets every key of ours, so no key sends us a signal. */
  readonly hasOwnTerminal: boolean;
}

/** Signals from keys of the terminal, which we and the program both get. */
const OF_KEYS = ['SIGINT', 'SIGQUIT'] as const;
/** Signals that only we get, and forward to the program. */
const SENT = ['SIGTERM', 'SIGHUP'] as const;
const SIGNALLED = 128;

/**
 * Runs a program on our terminal, in our process group, without a time limit: the user decides when
 * it is done. Returns its exit code, as a shell does.
 */
export async function runForeground(command: ForegroundCommand): Promise<number> {
  const child = spawn(command.program, command.arguments, {
    stdio: 'inherit',
    env: command.environment,
  });
  const passOn = (signal: NodeJS.Signals) => {
    const inner = command.isReceivedBy === 'its child' ? childOf(child.pid) : undefined;
    if (inner === undefined || !send(inner, signal)) child.kill(signal);
  };
  const forwardUnlessHandled = (signal: NodeJS.Signals) => {
    if (command.hasOwnTerminal || !isForeground()) passOn(signal);
  };
  for (const signal of OF_KEYS) process.on(signal, forwardUnlessHandled);
  for (const signal of SENT) process.on(signal, passOn);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', reject);
  child.once('exit', (code, signal) =>
    resolve(code ?? SIGNALLED + constants.signals[signal as NodeJS.Signals]),
  );
  return promise.finally(() => {
    for (const signal of OF_KEYS) process.off(signal, forwardUnlessHandled);
    for (const signal of SENT) process.off(signal, passOn);
  });
}

function childOf(pid = 0): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return Number.parseInt(text, 10) || undefined;
  } catch {
    return undefined; // It has exited, or this kernel does not report it.
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // It has exited.
  }
}

/** Whether our process group is the foreground group of the terminal. */
export function isForeground(): boolean {
  // 4711 (kubediag) S 4700 4711 4700 34816 4711 ...: after the name state, parent, group, session, tty
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return group === foreground;
}
