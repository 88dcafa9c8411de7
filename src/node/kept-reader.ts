import { READER_KEPT_MS } from './limits.ts';
import type { ReaderProcess } from './reader-process.ts';

interface KeptReader {
  readonly reader: ReaderProcess;
  /** Whoever asks by the same name gets the same answers of it. */
  readonly name: string;
  readonly release: () => void;
  readonly end: () => void;
}

/** One is enough: a recovery looks several times, but one look after another. */
let kept: KeptReader | undefined;

/** Keeps a reader that has nothing to do for the next who looks, but not for long, and not after our end. */
export function keepReader(reader: ReaderProcess, name: string): void {
  kept?.end();
  const release = () => {
    clearTimeout(timer);
    process.off('exit', end);
    kept = undefined;
  };
  const end = () => {
    release();
    reader.abandon();
  };
  const timer = setTimeout(end, READER_KEPT_MS).unref();
  // It would notice our end by itself, but a moment later.
  process.once('exit', end);
  const nobody = () => {};
  reader.events = {
    onAnswer: nobody,
    onQuiet: nobody,
    onHang: nobody,
    onDeath: end,
    onGone: nobody,
  };
  kept = { reader, name, release, end };
}

/** The reader that is kept under this name: from now on it is the caller's. */
export function takeReader(name: string): ReaderProcess | undefined {
  if (kept?.name !== name) return undefined;
  const { reader, release } = kept;
  release();
  return reader;
}
