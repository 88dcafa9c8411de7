/** Uses the compression streams that Node.js and browsers have. */
export async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  // Incompressible bytes grow by 5 in 16 KiB, and a header.
  return transformed(
    bytes,
    new CompressionStream('gzip'),
    bytes.length + (bytes.length >> 10) + 64,
  );
}

/** Rejects if the bytes are not gzip, or unpack to more than `bytesMax`. */
export async function gunzip(packed: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  return transformed(packed, new DecompressionStream('gzip'), bytesMax);
}

interface ByteReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: undefined }>;
  cancel(): Promise<void>;
}

async function transformed(
  bytes: Uint8Array,
  transform: CompressionStream | DecompressionStream,
  bytesMax: number,
): Promise<Uint8Array> {
  const source = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const reader: ByteReader = source.pipeThrough(transform).getReader();
  // Only written pages use memory, so the buffer can have the size of the limit.
  const all = new Uint8Array(bytesMax);
  let length = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (length + piece.value.length > bytesMax) {
      await reader.cancel();
      throw new RangeError(`more than ${bytesMax} bytes`);
    }
    all.set(piece.value, length);
    length += piece.value.length;
  }
  return all.subarray(0, length);
}
