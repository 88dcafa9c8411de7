/** Aborted when somebody wants us to end: then what we made is taken away first. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort());
  }
  return stop.signal;
}
