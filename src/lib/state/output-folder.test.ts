import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { openOutput, readOutput } from './output-folder.ts';
import { storeFile } from './stored-files.ts';

const home = mkdtempSync(join(tmpdir(), 'kubediag-handed-out-'));
afterAll(() => rmSync(home, { recursive: true }));

const RESULT = 'results/0f8fad5b-d9cb-469f-a165-70867728950e/9b74c9897bac770ffc029102a200c5de';

async function bytesOf(path: string): Promise<Buffer> {
  const out = openOutput(home, path);
  if (!out) throw new Error(`${path} is not handed out`);
  return buffer(out.pieces);
}

function put(path: string, text: string): string {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return path;
}

test('serves collected and stored files byte for byte', async () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 256));
  const stored = await storeFile(home, { kind: 'go-profiles', name: 'heap.pprof', bytes });
  if (!stored.ok) throw new Error(stored.why);
  const path = stored.value.slice(home.length + 1);
  expect(openOutput(home, path)?.bytes).toBe(bytes.length);
  expect((await bytesOf(path)).equals(bytes)).toBe(true);
});

test('serves large and empty results', async () => {
  expect((await bytesOf(put(RESULT, 'ä'))).toString()).toBe('ä');
  expect(openOutput(home, put(RESULT, ''))?.bytes).toBe(0);
});

test('a file that becomes shorter while it is read is an error', async () => {
  const out = openOutput(home, put(RESULT, 'twelve bytes'));
  if (!out) throw new Error('it is not handed out');
  put(RESULT, 'short');
  await expect(buffer(out.pieces)).rejects.toThrow('shorter');
});

test.each([
  ['the token', 'token'],
  ['the journal', 'journal.jsonl'],
  ['a way out', `${dirname(RESULT)}/../../token`],
  ['a way out of what is collected', 'collected/go-profiles/../../token'],
  ['a name that is not ours', 'collected/go-profiles/token'],
  ['more after it', `${RESULT}/x`],
  ['a directory', dirname(RESULT)],
])('nothing else is: %s', (_, path) => {
  put('token', 'secret');
  put('journal.jsonl', 'secret');
  put('collected/go-profiles/token', 'secret');
  put(RESULT, 'x');
  expect(openOutput(home, path)).toBeUndefined();
});

test('a link is not followed', () => {
  put('token', 'secret');
  const link = `${dirname(RESULT)}/${'a'.repeat(32)}`;
  put(RESULT, 'x');
  symlinkSync(join(home, 'token'), join(home, link));
  expect(openOutput(home, link)).toBeUndefined();
});

test('a piece of a file is read by its offset, and nothing behind its end', async () => {
  const path = put(RESULT, '0123456789');
  const read = async (offset: number, bytesMax: number) => {
    const piece = await readOutput(home, path, { offset, bytesMax });
    return piece && [piece.bytes, Buffer.from(piece.chunk).toString()];
  };
  expect(await read(0, 4)).toEqual([10, '0123']);
  expect(await read(8, 4)).toEqual([10, '89']);
  expect(await read(11, 4)).toEqual([10, '']);
  const options = { offset: 0, bytesMax: 4 };
  expect(await readOutput(home, 'journal.jsonl', options)).toBeUndefined();
  expect(await readOutput(home, `${path}/../../../x`, options)).toBeUndefined();
});
