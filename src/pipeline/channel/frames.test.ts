import { expect, test } from 'vitest';
import { FrameReader, frameOf } from './frames.ts';
import { MESSAGE_VALUES_MAX, UIDS_MAX } from './limits.ts';

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

test('a message with too many JSON values is refused in both directions, one with all ids is not', () => {
  const uid = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const ids = frameOf({ uids: Array.from({ length: UIDS_MAX }, () => uid) });
  expect([...new FrameReader().take(ids)]).toHaveLength(1);
  const values = Array.from({ length: MESSAGE_VALUES_MAX }, () => 1);
  expect(() => frameOf(values)).toThrow(`more than ${MESSAGE_VALUES_MAX} values`);
  const frame = frameOf('x'.repeat(2 * MESSAGE_VALUES_MAX - 1));
  frame.write(JSON.stringify(values), 4);
  expect(() => [...new FrameReader().take(frame)]).toThrow(`at most ${MESSAGE_VALUES_MAX} values`);
});

test('a message that arrives byte by byte takes little more memory than its bytes', () => {
  const frame = frameOf('x'.repeat(1_000_000));
  const reader = new FrameReader();
  const before = process.memoryUsage();
  for (const byte of frame.subarray(0, -1)) reader.take(Buffer.of(byte)).next();
  const { heapUsed, external } = process.memoryUsage();
  expect(heapUsed + external - before.heapUsed - before.external).toBeLessThan(100_000_000);
  expect([...reader.take(frame.subarray(-1))]).toHaveLength(1);
});
