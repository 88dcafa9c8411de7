import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { RESERVE_BYTES } from './limits.ts';

/**
 * Room on the disk of a store that is kept for deleting. Whoever is told that the disk is full, and to
 * delete what has ended, could not do so without: also a deletion is written down before it is done.
 */
export class SqliteReserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.renew();
  }

  /** Has it whole again, when the disk has room for others too. */
  renew(): void {
    try {
      const isWhole = statSync(this.#path, { throwIfNoEntry: false })?.size === RESERVE_BYTES;
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (!isWhole && bavail * bsize >= 2 * RESERVE_BYTES) this.#take();
    } catch {
      // A disk that does not answer is told of by the store.
    }
  }

  /** Free for as long as this takes; then what is left of it is ours again, before others have it. */
  withHost<T>(use: () => T): T {
    rmSync(this.#path, { force: true });
    try {
      return use();
    } finally {
      this.#take();
    }
  }

  /** As much of it as there is. */
  #take(): void {
    const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW } = constants;
    // Random, for a disk that packs what is written would pack a row of zeros to nothing.
    const piece = randomBytes(RESERVE_BYTES / 8);
    let file: number | undefined;
    try {
      file = openSync(this.#path, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0o600);
      for (let taken = 0; taken < RESERVE_BYTES; ) {
        taken += writeSync(file, piece, 0, Math.min(piece.length, RESERVE_BYTES - taken));
      }
    } catch {
      // The disk is full: a smaller reserve is still one.
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}
