import { bytesOf } from '../../lib/std/text-codec.ts';

/** A path as the functions of `node:fs` take it: names need not be UTF-8. */
export function pathBytes(path: string): Buffer {
  const { buffer, byteOffset, length } = bytesOf(path);
  return Buffer.from(buffer, byteOffset, length);
}
