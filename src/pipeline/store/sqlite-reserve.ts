import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { RESERVE_BYTES } from './limits.ts';

/**
 * Disk space reserved for deletions. Without it nobody could delete objects on a full disk, because
 * SQLite writes a deletion to its log first.
 */
export class SqliteReserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.renew();
  }

  /** Fills the reserve again if the disk has space to spare. */
  renew(): void {
    try {
      const isFilled = statSync(this.#path, { throwIfNoEntry: false })?.size === RESERVE_BYTES;
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (!isFilled && bavail * bsize >= 2 * RESERVE_BYTES) this.#fill();
    } catch {
      // The store itself reports a failing disk.
    }
  }

  /** Frees the space for one operation, then takes it back before others can use it. */
  whileFree<T>(operation: () => T): T {
    rmSync(this.#path, { force: true });
    try {
      return operation();
    } finally {
      this.#fill();
    }
  }

  #fill(): void {
    const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW } = constants;
    // Random, because a compressing filesystem would store zeros in no space at all.
    const piece = randomBytes(RESERVE_BYTES / 8);
    let file: number | undefined;
    try {
      file = openSync(this.#path, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0o600);
      for (let written = 0; written < RESERVE_BYTES; ) {
        written += writeSync(file, piece, 0, Math.min(piece.length, RESERVE_BYTES - written));
      }
    } catch {
      // The disk is full: a smaller reserve still helps.
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}
