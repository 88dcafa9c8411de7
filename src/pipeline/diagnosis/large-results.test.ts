import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  completeResults,
  fileOf,
  type LargeResults,
  largeResultsIn,
  largeResultsInMemory,
} from './large-results.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-results-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const ONE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const FILE = '9b74c9897bac770ffc029102a200c5de';

const places: readonly (readonly [string, () => LargeResults])[] = [
  ['a directory', () => largeResultsIn(join(scratch, 'results'))],
  ['memory', largeResultsInMemory],
];

describe.each(places)('in %s', (_, make) => {
  test('reads a stored result, and removes it with its Diagnosis', async () => {
    const results = make();
    const text = 'a\n\0é\u{1f600}';
    expect(await results.store(ONE, FILE, text)).toEqual({ ok: true, value: undefined });
    await results.store(OTHER, FILE, 'other');
    expect(await results.read(ONE, FILE)).toEqual({ ok: true, value: text });
    await results.remove(ONE);
    expect(await results.read(ONE, FILE)).toEqual({ ok: true, value: undefined });
    expect(await results.read(OTHER, FILE)).toEqual({ ok: true, value: 'other' });
    await results.remove(ONE);
  });
});

test('can be read by its owner only', async () => {
  const folder = join(scratch, 'private');
  await largeResultsIn(folder).store(ONE, FILE, 'secret');
  const modes = [folder, join(folder, ONE), join(folder, ONE, FILE)].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o600]);
});

test('removes the results of deleted Diagnoses, and nothing else', async () => {
  const folder = join(scratch, 'left');
  const results = largeResultsIn(folder);
  await results.store(ONE, FILE, 'a');
  await results.store(OTHER, FILE, 'b');
  mkdirSync(join(folder, 'of-somebody-else'));
  await results.retain(new Set([OTHER]));
  expect(existsSync(join(folder, ONE))).toBe(false);
  expect(existsSync(join(folder, OTHER))).toBe(true);
  expect(existsSync(join(folder, 'of-somebody-else'))).toBe(true);
});

test('reads and writes nothing outside its directory', async () => {
  const folder = join(scratch, 'inside');
  writeFileSync(join(scratch, 'outside'), 'secret');
  const results = largeResultsIn(folder);
  await results.store(ONE, FILE, 'a');
  for (const file of ['../../outside', '/etc/hostname', '', '.']) {
    expect(await results.read(ONE, file)).toMatchObject({ ok: false });
    expect(await results.store(ONE, file, 'x')).toMatchObject({ ok: false });
  }
  const before = readdirSync(scratch);
  for (const uid of ['..', '', '../../tmp', 'some', ONE.toUpperCase()]) {
    expect(await results.store(uid, FILE, 'x')).toMatchObject({ ok: false });
    expect(await results.read(uid, FILE)).toMatchObject({ ok: false });
    await results.remove(uid);
  }
  expect(readdirSync(scratch)).toEqual(before);
  expect(readdirSync(folder)).toEqual([ONE]);
});

test('reports a result that cannot be stored', async () => {
  const folder = join(scratch, 'a-file');
  writeFileSync(folder, '');
  expect(await largeResultsIn(folder).store(ONE, FILE, 'a')).toMatchObject({ ok: false });
});

test('a result that has changed on disk is not used', async () => {
  const folder = join(scratch, 'torn');
  const results = largeResultsIn(folder);
  const [key, text] = ['some.key', 'x'.repeat(1_000)];
  const file = fileOf(key, text);
  const status = { largeResults: [{ key, bytes: text.length, file }] };
  await results.store(ONE, file, text);
  expect(await completeResults(ONE, status, results)).toEqual({ ok: true, value: { [key]: text } });
  writeFileSync(join(folder, ONE, file), text.slice(0, 500));
  expect(await completeResults(ONE, status, results)).toEqual({
    ok: false,
    why: `result some.key: ${file} has changed on disk; check the disk and create a new Diagnosis`,
  });
});
