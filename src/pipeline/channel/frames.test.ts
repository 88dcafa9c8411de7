import { expect, test } from 'vitest';
import { FrameReader, frameOf } from './frames.ts';

const MESSAGES = [{ one: 'ä'.repeat(50) }, 'two', [3], {}];

test('a stream gives the same messages, however it is cut', () => {
  const stream = Buffer.concat(MESSAGES.map((each) => frameOf(each)));
  for (let size = 1; size <= stream.length; size += 1) {
    const reader = new FrameReader();
    const read: unknown[] = [];
    for (let at = 0; at < stream.length; at += size) {
      for (const { message } of reader.take(stream.subarray(at, at + size))) read.push(message);
    }
    expect(read).toEqual(MESSAGES);
  }
});

test('a message over the limit is refused by its length alone, in both directions', () => {
  expect(() => frameOf('x'.repeat(100), 101)).toThrow('102 bytes exceeds the limit of 101');
  expect(frameOf('x'.repeat(99), 101)).toHaveLength(105);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(102);
  expect(() => [...new FrameReader(101).take(length)]).toThrow('exceeds the limit of 101');
  length.writeUInt32BE(101);
  expect([...new FrameReader(101).take(length)]).toEqual([]);
});

test('what is not JSON is refused', () => {
  const frame = frameOf('some');
  frame.write('{', 4);
  expect(() => [...new FrameReader().take(frame)]).toThrow('not JSON');
});
