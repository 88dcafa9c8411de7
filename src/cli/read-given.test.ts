import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { TEXTS_BYTES_MAX } from '../examine/limits.ts';
import { writeTar } from '../std/tar.ts';
import { readGiven } from './read-given.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-read-given-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const at = (name: string) => join(scratch, name);

test('files have one limit for all of them together, and what is beyond it is told', async () => {
  writeFileSync(at('small'), 'some text\n');
  writeFileSync(at('large'), '');
  truncateSync(at('large'), TEXTS_BYTES_MAX);
  const part = gzipSync(Buffer.alloc(TEXTS_BYTES_MAX / 16, '\n'));
  writeFileSync(at('packed.gz'), Buffer.concat(Array<Buffer>(16).fill(part)));
  const { files, unread } = await readGiven(['small', 'large', 'packed.gz', 'small'].map(at));
  expect(files.map(({ text }) => text)).toEqual(['some text\n', 'some text\n']);
  const why = expect.stringMatching(/^all files together may have \d+ bytes/);
  expect(unread).toEqual([
    { name: at('large'), why },
    { name: at('packed.gz'), why },
  ]);
}, 20_000);

test('what has no end is not read to it', async () => {
  const { files, unread } = await readGiven(['/dev/zero']);
  expect({ files, unread }).toMatchObject({ files: [], unread: [{ name: '/dev/zero' }] });
}, 20_000);

test('an archive of very many files is told, and not read', async () => {
  const entries = Array.from(Array(2_001).keys(), (number) => ({
    name: `${number}`,
    content: Buffer.from('x'),
  }));
  writeFileSync(at('many.tar'), writeTar(entries));
  expect(await readGiven([at('many.tar')])).toMatchObject({
    files: [],
    unread: [{ why: 'more than 2000 files' }],
  });
});
