import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FILE_BYTES_MAX, FRAME_BYTES_MAX } from './limits.ts';
import { type Frame, FrameParser, type FromReader, frameOf } from './reader-protocol.ts';

function parsed(chunks: readonly Buffer[]): Frame<FromReader>[] {
  const parser = new FrameParser<FromReader>();
  // Copied, because a chunk of a pipe is not ours to keep.
  return chunks
    .flatMap((chunk) => [...parser.push(Buffer.from(chunk))])
    .map(({ header, payload }) => ({ header, payload: Buffer.from(payload) }));
}

function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index]));
}

const header: fc.Arbitrary<FromReader> = fc.oneof(
  fc.constant({ say: 'ready' } as const),
  fc.record({ say: fc.constant('begin' as const), id: fc.nat() }),
  fc.record({
    say: fc.constant('answer' as const),
    id: fc.nat(),
    value: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\udcff'), fc.array(fc.string())),
  }),
);
const frame = fc.record({
  header,
  payload: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
});

describe('frames', () => {
  test('come back whole, wherever the pipe has cut them', () => {
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat(), { maxLength: 20 }), (frames, places) => {
        const bytes = Buffer.concat(frames.map((it) => frameOf(it.header, it.payload)));
        expect(parsed(cut(bytes, places))).toEqual(frames);
      }),
    );
  });

  test('come back whole, cut after every byte', () => {
    const frames = [
      { header: { say: 'begin', id: 1 }, payload: Buffer.alloc(0) },
      { header: { say: 'answer', id: 1, value: null }, payload: Buffer.from('two\nlines\n') },
    ] as const;
    const bytes = Buffer.concat(frames.map((it) => frameOf(it.header, it.payload)));
    expect(parsed([...bytes].map((byte) => Buffer.of(byte)))).toEqual(frames);
  });

  test('that are incomplete are not reported', () => {
    const bytes = frameOf({ say: 'answer', id: 1, value: 'x' }, Buffer.from('payload'));
    for (let length = 0; length < bytes.length; length += 1) {
      expect(parsed([bytes.subarray(0, length)])).toEqual([]);
    }
  });

  test.each([
    ['a header', 0xffff_ffff, 0],
    ['a payload', 2, 0xffff_ffff],
    ['both', 0xffff_ffff, 0xffff_ffff],
    ['one byte too many', 2, FRAME_BYTES_MAX - 8 - 2 + 1],
  ])('are refused at once when they claim too much: %s', (_, headerBytes, payloadBytes) => {
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(headerBytes, 0);
    lengths.writeUInt32LE(payloadBytes, 4);
    expect(() => parsed([lengths])).toThrow(RangeError);
  });

  test('fit the largest file', () => {
    expect(FRAME_BYTES_MAX).toBeGreaterThan(FILE_BYTES_MAX + 1024);
  });

  test('are refused when their header is no JSON', () => {
    const bytes = frameOf({ say: 'ready' }).fill(0xff, 8);
    expect(() => parsed([bytes])).toThrow(SyntaxError);
  });
});

test('a large frame comes in thousands of chunks, and is put together once', () => {
  const CHUNK_BYTES = 4 * 1024;
  const payload = Buffer.alloc(30 * 1024 * 1024, 'x');
  const bytes = frameOf({ say: 'answer', id: 1, value: null }, payload);
  const parser = new FrameParser<FromReader>();
  // Copied at every one of its 7,700 chunks it would take minutes, and the test its time limit.
  const frames = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  ).flatMap((chunk) => [...parser.push(chunk)]);
  expect(frames.map((whole) => whole.payload.length)).toEqual([payload.length]);
});
