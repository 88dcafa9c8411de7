import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UNPACK_MS_MAX, UNPACKED_BYTES_MAX } from '../limits.ts';

/** What gzip packed, unpacked piece by piece: a small file may hold more than any memory. */

const CHUNK_BYTES = 1024 * 1024;

interface UnpackLimits {
  readonly bytesMax: number;
  readonly msMax: number;
}

const LIMITS: UnpackLimits = { bytesMax: UNPACKED_BYTES_MAX, msMax: UNPACK_MS_MAX };

export async function* unpackedPieces(
  packed: AsyncIterable<unknown>,
  { bytesMax, msMax }: UnpackLimits = LIMITS,
): AsyncGenerator<Uint8Array> {
  const begun = performance.now();
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Whatever fails is thrown by the loop, which also ends the source when it is left.
  pipeline(Readable.from(packed), gunzip, () => {});
  let totalBytes = 0;
  for await (const piece of gunzip) {
    totalBytes += (piece as Buffer).length;
    if (totalBytes > bytesMax) throw new Error(`more than ${bytesMax} bytes, unpacked; ${INSTEAD}`);
    if (performance.now() - begun > msMax) {
      throw new Error(`not unpacked within ${msMax / 1000} s; ${INSTEAD}`);
    }
    yield piece as Buffer;
  }
}

const INSTEAD = 'send its end: zcat FILE | tail -c 100M | kubediag examine -';

export function isZipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The same stream, unpacked where it is packed. */
export async function* plainPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  let beginning = Buffer.alloc(0);
  while (beginning.length < 2) {
    const next = await iterator.next();
    if (next.done) break;
    beginning = Buffer.concat([beginning, next.value]);
  }
  const all = rejoined(beginning, iterator);
  // The sender may be slow: only the size is limited, and a person can stop it.
  const limits = { ...LIMITS, msMax: Number.POSITIVE_INFINITY };
  yield* isZipped(beginning) ? unpackedPieces(all, limits) : all;
}

async function* rejoined(
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (beginning.length > 0) yield beginning;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
