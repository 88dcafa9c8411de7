import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { writeTar } from '../../../lib/std/tar.ts';
import { TEXTS_BYTES_MAX } from '../../../node/examine/limits.ts';
import { readGiven } from './read-given.ts';
import { StreamEnd } from './stream-end.ts';
import { plainPieces, unpackedPieces } from './unpacked-pieces.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-read-given-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const at = (name: string) => join(scratch, name);

test('all files share one limit, and files beyond it are reported', async () => {
  writeFileSync(at('small'), 'some text\n');
  writeFileSync(at('large'), '');
  truncateSync(at('large'), TEXTS_BYTES_MAX);
  const part = gzipSync(Buffer.alloc(TEXTS_BYTES_MAX / 16, '\n'));
  writeFileSync(at('packed.gz'), Buffer.concat(Array<Buffer>(16).fill(part)));
  const { files, unread } = await readGiven(['small', 'large', 'packed.gz', 'small'].map(at));
  expect(files.map(({ name }) => name)).toEqual(['small', 'packed.gz (end)', 'small']);
  const why = expect.stringMatching(/^all files together may have \d+ bytes/);
  expect(unread).toEqual([{ name: at('large'), why }]);
}, 20_000);

test('what has no end is not read to it', async () => {
  const { files, unread } = await readGiven(['/dev/zero']);
  expect({ files, unread }).toMatchObject({ files: [], unread: [{ name: '/dev/zero' }] });
}, 20_000);

test('an archive with too many files is reported, and not read', async () => {
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

/** A log of 320 MiB in many members, each packed once: its last line is the only one of its kind. */
function packedLog(): Buffer {
  const part = gzipSync(Buffer.alloc(16 * 2 ** 20, 'a line of a log\n'));
  return Buffer.concat([...Array<Buffer>(20).fill(part), gzipSync('the last line\n')]);
}

test('of a packed log that is too large the end is read, and that is said', async () => {
  writeFileSync(at('kubelet.log.gz'), packedLog());
  const { files, unread } = await readGiven([at('kubelet.log.gz')]);
  expect(unread).toEqual([]);
  const [file] = files;
  expect(file).toMatchObject({
    name: 'kubelet.log.gz (end)',
    cut: 'only its last 128 of 320 MiB were read',
  });
  expect(file?.text.startsWith('a line of a log\n')).toBe(true);
  expect(file?.text.endsWith('a line of a log\nthe last line\n')).toBe(true);
}, 20_000);

test('a packed archive that is too large is refused: its end makes no sense', async () => {
  const archive = writeTar([{ name: 'kubelet.log', content: Buffer.from('x') }]);
  const zeros = gzipSync(Buffer.alloc(2 ** 24));
  const members = [gzipSync(archive), ...Array<Buffer>(17).fill(zeros)];
  writeFileSync(at('large.tgz'), Buffer.concat(members));
  const { files, unread } = await readGiven([at('large.tgz')]);
  expect({ files, unread }).toMatchObject({ files: [], unread: [{ name: at('large.tgz') }] });
}, 20_000);

async function textIn(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
}

test('a stream is unpacked where it is packed, however small its pieces are', async () => {
  for (const bytes of [Buffer.from('plain'), gzipSync('plain')]) {
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect(await textIn(plainPieces(Readable.from(single)))).toBe('plain');
  }
  expect(await textIn(plainPieces(Readable.from([])))).toBe('');
});

test('unpacking has limits of size and time, and corrupt data is reported', async () => {
  const packed = () => Readable.from([gzipSync(Buffer.alloc(5_000_000))]);
  const limited = (bytesMax: number, msMax: number) =>
    textIn(unpackedPieces(packed(), { bytesMax, msMax }));
  await expect(limited(4_000_000, 60_000)).rejects.toThrow('more than 4000000 bytes, unpacked');
  await expect(limited(9_000_000, -1)).rejects.toThrow('not unpacked within');
  const half = gzipSync('some text that is cut').subarray(0, 20);
  await expect(textIn(unpackedPieces(Readable.from([half])))).rejects.toThrow('unexpected end');
});

test('the end of a stream holds its last bytes, and gives up what came before', () => {
  const end = new StreamEnd();
  for (let number = 0; number < 1_000; number += 1) {
    end.add(Buffer.from(`${number} `));
    end.keepLast(12);
  }
  expect(end.bytes().toString()).toBe('997 998 999 ');
  expect(end.totalBytes).toBe(3_890);
});
