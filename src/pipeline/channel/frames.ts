import { jsonValue } from '../../lib/std/json.ts';
import { FRAME_BYTES_MAX } from './limits.ts';

const HEADER_BYTES = 4;

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
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(bytesMax = FRAME_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The messages that are complete with this chunk. Throws a FrameError for anything else. */
  *take(chunk: Buffer): Generator<ReadFrame> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    for (;;) {
      if (this.#length < HEADER_BYTES) return;
      const bytes = this.#joined(HEADER_BYTES).readUInt32BE();
      if (bytes > this.#bytesMax) {
        throw new FrameError(`a message of ${bytes} bytes exceeds the limit of ${this.#bytesMax}`);
      }
      if (this.#length < HEADER_BYTES + bytes) return;
      const all = this.#joined(HEADER_BYTES + bytes);
      const end = HEADER_BYTES + bytes;
      this.#chunks = all.length > end ? [all.subarray(end)] : [];
      this.#length -= end;
      yield { message: parsed(all.subarray(HEADER_BYTES, end)), bytes };
    }
  }

  /** The first chunk, when it has at least this many bytes. */
  #joined(bytes: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks;
    if (first.length >= bytes) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

function parsed(bytes: Buffer): unknown {
  const json = jsonValue(bytes.toString('utf8'));
  if (!json) throw new FrameError('a message is not JSON');
  return json.value;
}
