/** Buffers the end of a stream: all of it at first, and only its last bytes once it is too long. */
export class StreamEnd {
  readonly #pieces: Uint8Array[] = [];
  /** Pieces before this one are given up. */
  #first = 0;
  #bufferedBytes = 0;
  #totalBytes = 0;

  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bufferedBytes += piece.length;
    this.#totalBytes += piece.length;
  }

  /** Gives up pieces from the front as long as this many bytes are left. */
  keepLast(bytes: number): void {
    let piece = this.#pieces[this.#first];
    while (piece && this.#bufferedBytes - piece.length >= bytes) {
      this.#bufferedBytes -= piece.length;
      this.#pieces[this.#first] = NOTHING;
      this.#first += 1;
      piece = this.#pieces[this.#first];
    }
    // Not each time: to move many small pieces one place on takes longer than to read them.
    if (this.#first > this.#pieces.length / 2) {
      this.#pieces.splice(0, this.#first);
      this.#first = 0;
    }
  }

  /** The first buffered bytes. */
  beginning(bytes: number): Buffer {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let at = this.#first; at < this.#pieces.length && length < bytes; at += 1) {
      const piece = this.#pieces[at] ?? NOTHING;
      pieces.push(piece.subarray(0, bytes));
      length += piece.length;
    }
    return Buffer.concat(pieces);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces.slice(this.#first));
  }
}

const NOTHING = new Uint8Array();
