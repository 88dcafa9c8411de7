import { fstatSync, readSync } from 'node:fs';
import type { ByteSource } from '../../lib/go/byte-source.ts';

/** An open file, read in pieces. */
export function fileSource(file: number): ByteSource {
  return {
    sizeBytes: fstatSync(file).size,
    read: (offset, length) => {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    },
  };
}
