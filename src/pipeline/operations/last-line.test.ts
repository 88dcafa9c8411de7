import { expect, test } from 'vitest';
import { lastLine } from './run-function.ts';

test.each([
  ['hello', 'hello'],
  ['hello\n', 'hello'],
  ['hello\r\n', 'hello'],
  ['hello\r\n\r\n', 'hello'],
  ['hello\nthere', 'there'],
  ['one\ntwotwo\nthreethreethree\rfourfourfourfour', 'fourfourfourfour'],
  ['one\ntwotwo\nthreethreethree\rfourfourfourfour\n', 'fourfourfourfour'],
  ['one\ntwotwo\nthreethreethree\rfourfourfourfour\r\n', 'fourfourfourfour'],
  ['\n\rthere', 'there'],
  ['\n\r\r\r', ''],
  ['', ''],
])('the last line of %j', (text, line) => {
  expect(lastLine(text)).toBe(line);
});
