import { StoreError } from '../store/store-error.ts';

const NEWLINE = 10;

/**
 * The complete lines of a stream. A line that the end of the stream cuts is dropped: the next watch
 * gets it again. Throws `RequestEntityTooLarge` for a line that is too long.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<string> {
  let begun: Uint8Array[] = [];
  let size = 0;
  const grow = (part: Uint8Array) => {
    size += part.length;
    if (size > bytesMax) {
      throw new StoreError('RequestEntityTooLarge', `a line has more than ${bytesMax} bytes`);
    }
    begun.push(part);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      grow(chunk.subarray(start, end));
      yield Buffer.concat(begun).toString();
      begun = [];
      size = 0;
      start = end + 1;
    }
    if (start < chunk.length) grow(chunk.subarray(start));
  }
}
