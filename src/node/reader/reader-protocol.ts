import type { Question, QuestionKind, ReadFailure } from '../model/node-reader.ts';
import { FRAME_BYTES_MAX } from './limits.ts';

/**
 * The protocol of the live node and its reader over a pipe. A frame is two lengths (the
 * header's and the payload's, four bytes each), a header in JSON, and the payload: a file's bytes
 * as they are, because a mount table can have 30 MB.
 */
export type ToReader =
  | { readonly say: 'settings'; readonly settings: ReaderSettings }
  | {
      readonly say: 'ask';
      readonly id: number;
      readonly kind: QuestionKind;
      readonly question: Question<QuestionKind>;
    };

export type FromReader =
  | { readonly say: 'ready' }
  /** Said just before the reader touches the node, so that we know who hung it. */
  | { readonly say: 'begin'; readonly id: number }
  | { readonly say: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly say: 'failure';
      readonly id: number;
      readonly failure: ReadFailure;
      readonly detail?: string | undefined;
    };

/** How the node is to be read; the same for all questions. */
export interface ReaderSettings {
  /** Where the node's root is for us: "/" on the node, "/host" or "/proc/1/root" in a container. */
  readonly hostRoot: string;
  readonly kubeletTokenFile?: string | undefined;
  readonly kubeletCertificateFile?: string | undefined;
  readonly kubeletKeyFile?: string | undefined;
}

const LENGTHS_BYTES = 8;
const NOTHING = Buffer.alloc(0);

export function frameOf(header: ToReader | FromReader, ...payload: readonly Buffer[]): Buffer {
  return Buffer.concat(partsOf(header, payload));
}

/** A frame in pieces, which may be written one after another: a large payload is not copied. */
export function partsOf(header: ToReader | FromReader, payload: readonly Buffer[]): Buffer[] {
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(bytesIn(payload), 4);
  return [lengths, text, ...payload];
}

export function bytesIn(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

export interface Frame<H> {
  readonly header: H;
  readonly payload: Buffer;
}

/** Cuts a stream of bytes back into frames, however the pipe has cut it. */
export class FrameParser<H> {
  /** Starts with a frame, and grows to its size once the length is known. */
  #bytes: Buffer = NOTHING;
  #length = 0;
  #wanted = LENGTHS_BYTES;

  *push(chunk: Buffer): Generator<Frame<H>> {
    this.#add(chunk);
    while (this.#length >= this.#wanted) {
      const bytes = this.#bytes.subarray(0, this.#length);
      const headerLength = bytes.readUInt32LE(0);
      const frameLength = LENGTHS_BYTES + headerLength + bytes.readUInt32LE(4);
      if (frameLength > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${frameLength} bytes`);
      if (bytes.length < frameLength) {
        this.#wanted = frameLength;
        return;
      }
      const payloadStart = LENGTHS_BYTES + headerLength;
      const header = JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, payloadStart)) as H;
      yield { header, payload: bytes.subarray(payloadStart, frameLength) };
      this.#length -= frameLength;
      // What is read out is let go of at once: a list of pods takes megabytes.
      this.#bytes = this.#length === 0 ? NOTHING : bytes.subarray(frameLength);
      this.#wanted = LENGTHS_BYTES;
    }
  }

  /** Copied to their place at once: in pieces, a large frame would need twice the memory. */
  #add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(length, this.#wanted));
        this.#bytes.copy(larger, 0, 0, this.#length);
        this.#bytes = larger;
      }
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }
}
