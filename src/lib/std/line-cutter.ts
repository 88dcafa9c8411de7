const NEWLINE = 10;

/** Called with a line as a range of bytes without the newline, valid until the next line. */
type TakeLine = (bytes: Uint8Array, start: number, end: number) => void;

/** Splits a stream of bytes into lines, for chunks of any size. A long line is truncated. */
export class LineCutter {
  readonly #take: TakeLine;
  readonly #rest: Uint8Array;
  #restLength = 0;

  constructor(bytesMax: number, take: TakeLine) {
    this.#rest = new Uint8Array(bytesMax);
    this.#take = take;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      if (this.#restLength === 0) {
        this.#take(chunk, start, Math.min(end, start + this.#rest.length));
      } else {
        this.#keep(chunk, start, end);
        this.#take(this.#rest, 0, this.#restLength);
        this.#restLength = 0;
      }
      start = end + 1;
    }
    this.#keep(chunk, start, chunk.length);
  }

  /** Gives the line at the end, and whether there was one: a whole text ends with a newline. */
  finish(): boolean {
    if (this.#restLength === 0) return false;
    this.#take(this.#rest, 0, this.#restLength);
    this.#restLength = 0;
    return true;
  }

  #keep(chunk: Uint8Array, start: number, end: number): void {
    const length = Math.min(end - start, this.#rest.length - this.#restLength);
    if (length <= 0) return;
    this.#rest.set(chunk.subarray(start, start + length), this.#restLength);
    this.#restLength += length;
  }
}
