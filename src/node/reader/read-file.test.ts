import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FILE_BYTES_MAX } from './limits.ts';
import { tableText } from './read-file.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-read-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('a file that has no size is read to its end', () => {
  expect(tableText('/proc/self/stat')).toMatch(new RegExp(`^${process.pid} \\(.*\\) .*\\n$`));
});

test('a short file after a long one holds nothing of it', () => {
  const long = 'a line of a table\n'.repeat(200_000);
  const [first, second] = [written('long', long), written('short', 'brief\n')];
  expect(tableText(first)).toBe(long);
  expect(tableText(second)).toBe('brief\n');
  expect(tableText(written('empty', ''))).toBe('');
});

test('a text stays as it was when the next one is read', () => {
  const [first, second] = [written('one', 'the first\n'), written('two', 'the other\n')];
  const text = tableText(first);
  tableText(second);
  expect(text).toBe('the first\n');
});

test('distinguishes bytes that are no text from each other', () => {
  expect(tableText(written('bytes', Buffer.from([0x61, 0xff, 0x62])))).toBe('a\udcffb');
});

test('what has no end is given up', () => {
  expect(() => tableText('/dev/zero')).toThrow(`more than ${FILE_BYTES_MAX} bytes`);
});
