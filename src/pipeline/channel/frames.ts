import { jsonLimit, jsonValue } from '../../lib/std/json.ts';
import { FRAME_BYTES_MAX, MESSAGE_DEPTH_MAX, MESSAGE_VALUES_MAX } from './limits.ts';

const HEADER_BYTES = 4;

const EMPTY = Buffer.alloc(0);

const JSON_LIMITS = { depthMax: MESSAGE_DEPTH_MAX, valuesMax: MESSAGE_VALUES_MAX };

/** A message that cannot be read or sent. The text says why. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** A message as it travels: its length in four bytes, most significant first, and JSON. */
export function frameOf(message: unknown, bytesMax = FRAME_BYTES_MAX): Buffer {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text);
  if (length > bytesMax) {
    throw new FrameError(`a message of ${length} bytes exceeds the limit of ${bytesMax}`);
  }
  const limit = jsonLimit(text, JSON_LIMITS);
  if (limit !== undefined) throw new FrameError(`a message exceeds a limit: ${limit}`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32BE(length);
  frame.write(text, HEADER_BYTES);
  return frame;
}

/** A message with the number of its bytes. */
export interface ReadFrame {
  readonly message: unknown;
  readonly bytes: number;
}

/** Cuts a stream into messages. Nothing is allocated for bytes that have only been announced. */
export class FrameReader {
  readonly #bytesMax: number;
  /** Its first bytes have arrived and belong to no complete message yet; behind them it is free. */
  #buffer: Buffer = EMPTY;
  #length = 0;

  constructor(bytesMax = FRAME_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The messages that are complete with this chunk. Throws a FrameError for anything else. */
  *take(chunk: Buffer): Generator<ReadFrame> {
    this.#append(chunk);
    while (this.#length >= HEADER_BYTES) {
      const bytes = this.#buffer.readUInt32BE();
      if (bytes > this.#bytesMax) {
        throw new FrameError(`a message of ${bytes} bytes exceeds the limit of ${this.#bytesMax}`);
      }
      const end = HEADER_BYTES + bytes;
      if (this.#length < end) return;
      const message = this.#buffer.subarray(HEADER_BYTES, end);
      this.#buffer = end < this.#length ? this.#buffer.subarray(end, this.#length) : EMPTY;
      this.#length -= end;
      yield { message: parsed(message), bytes };
    }
  }

  /** Joins the chunks: many small ones would take a hundred times their bytes. */
  #append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) this.#buffer = chunk;
    else {
      if (length > this.#buffer.length) this.#grow(length);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  /** To twice its size, so that few bytes are copied more than once. */
  #grow(length: number): void {
    const enough = Math.min(2 * length, HEADER_BYTES + this.#bytesMax);
    const larger = Buffer.allocUnsafe(Math.max(length, enough));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

function parsed(bytes: Buffer): unknown {
  const json = jsonValue(bytes.toString('utf8'), JSON_LIMITS);
  if (json) return json.value;
  throw new FrameError(`a message is not JSON of at most ${MESSAGE_VALUES_MAX} values`);
}
