import { READER_CACHED_MS } from './limits.ts';
import type { ReaderProcess } from './reader-process.ts';

interface CachedReader {
  readonly reader: ReaderProcess;
  /** How it was started and with which settings: readers with the same name answer alike. */
  readonly name: string;
  readonly release: () => void;
  readonly end: () => void;
}

/** One is enough: a recovery checks several times, but one check after another. */
let stored: CachedReader | undefined;

/** Caches an idle reader for the next check of this run. It ends when none comes soon, and with us. */
export function cacheReader(reader: ReaderProcess, name: string): void {
  stored?.end();
  const release = () => {
    clearTimeout(timer);
    process.off('exit', end);
    stored = undefined;
  };
  const end = () => {
    release();
    reader.abandon();
  };
  const timer = setTimeout(end, READER_CACHED_MS).unref();
  // It would notice our end by itself, but a moment later.
  process.once('exit', end);
  reader.rest(end);
  stored = { reader, name, release, end };
}

/** No look follows. */
export function endCachedReader(): void {
  stored?.end();
}

/** The cached reader of this name, if there is one; the caller has to end it. */
export function takeReader(name: string): ReaderProcess | undefined {
  if (stored?.name !== name) return undefined;
  const { reader, release } = stored;
  release();
  return reader;
}
