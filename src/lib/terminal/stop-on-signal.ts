import type { Terminal } from './terminal.ts';

/** Ctrl-C stops before the next act, or batch of one; what has begun is carried to its end and told. */
export function stopOnSignal(
  terminal: Terminal,
  text = 'what has begun is finished first',
): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      terminal.err(`${signal}: stopping; ${text}\n`);
      stop.abort();
    });
  }
  return stop.signal;
}
