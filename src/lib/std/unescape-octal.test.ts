import { expect, test } from 'vitest';
import { unescapeOctal } from './unescape-octal.ts';

test.each([
  ['/plain', '/plain'],
  ['/a\\040b\\011c\\012d\\134e', '/a b\tc\nd\\e'],
  // Decoded once: what comes out of a backslash is no second escape.
  ['/a\\134040b', '/a\\040b'],
  // No three octal digits, or more than the kernel escapes: as it stands.
  ['/a\\04', '/a\\04'],
  ['/a\\089', '/a\\089'],
  ['/a\\377b', '/a\\377b'],
])('%s is %j', (written, meant) => {
  expect(unescapeOctal(written)).toBe(meant);
});
