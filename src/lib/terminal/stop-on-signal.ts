import type { Terminal } from './terminal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Aborted by the first signal that asks this process to end. The second one ends it at once, unless
 * repeats are ignored.
 */
export function abortOnSignal({
  onSignal = () => {},
  repeats = 'end-the-process',
}: {
  readonly onSignal?: (signal: string) => void;
  readonly repeats?: 'end-the-process' | 'ignored';
} = {}): AbortSignal {
  const stop = new AbortController();
  for (const signal of SIGNALS) {
    process[repeats === 'ignored' ? 'on' : 'once'](signal, () => {
      if (!stop.signal.aborted) onSignal(signal);
      stop.abort();
    });
  }
  return stop.signal;
}

/** For a command that must clean up: all signals after the first are ignored. */
export function cleanUpOnSignal(): AbortSignal {
  return abortOnSignal({ repeats: 'ignored' });
}

/** The same, with a message for the person who waits. */
export function stopOnSignal(
  terminal: Pick<Terminal, 'err'>,
  message = 'what has begun is finished first',
): AbortSignal {
  return abortOnSignal({
    onSignal: (signal) => terminal.err(`${signal}: stopping; ${message}\n`),
  });
}
