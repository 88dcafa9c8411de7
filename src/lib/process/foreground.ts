import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

export interface ForegroundCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The whole of it. */
  readonly environment: NodeJS.ProcessEnv;
  /** Who is meant by a signal that is sent to us: a program may only wait for another one. */
  readonly isReceivedBy: 'itself' | 'its child';
  /** It makes another terminal, to which ours passes every key: then none of them makes a signal here. */
  readonly hasOwnTerminal: boolean;
}

/** Signals that a key of the terminal sends: to us and to the program alike. */
const OF_KEYS = ['SIGINT', 'SIGQUIT'] as const;
/** Signals that are sent to us alone, and meant for the program. */
const SENT = ['SIGTERM', 'SIGHUP'] as const;
const SIGNALLED = 128;

/**
 * Lets a program have our terminal, in our process group, for as long as it likes: nobody but the
 * person in front of it can say when it is done. Its exit code, as a shell reports it.
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
    return undefined; // It has ended, or this kernel does not report it.
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // It has ended.
  }
}

/** Whether we have the terminal now: its keys send their signals to our process group. */
export function isForeground(): boolean {
  // 4711 (kubediag) S 4700 4711 4700 34816 4711 ...: after the name state, parent, group, session, tty
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return group === foreground;
}
