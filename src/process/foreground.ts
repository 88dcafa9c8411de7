import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface ForegroundCommand {
  readonly program: string;
  readonly arguments: readonly string[];
  /** The whole of it. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Signals of a terminal: they reach the program as well, and it decides what becomes of them. */
const ITS_OWN = ['SIGINT', 'SIGQUIT'] as const;
/** Signals that are sent to us alone, and meant for the program. */
const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const;
const SIGNALLED = 128;

/**
 * Lets a program have our terminal, in our process group, for as long as it likes: nobody but the
 * person in front of it can say when it is done. Its exit code, as a shell tells it.
 */
export async function runForeground(command: ForegroundCommand): Promise<number> {
  const child = spawn(command.program, command.arguments, {
    stdio: 'inherit',
    env: command.environment,
  });
  const ignore = () => {};
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of ITS_OWN) process.on(signal, ignore);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', reject);
  child.once('exit', (code, signal) =>
    resolve(code ?? SIGNALLED + constants.signals[signal as NodeJS.Signals]),
  );
  return promise.finally(() => {
    for (const signal of ITS_OWN) process.off(signal, ignore);
    for (const signal of PASSED_ON) process.off(signal, passOn);
  });
}
