import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STORED_FILES_MAX } from './limits.ts';
import { storeFile } from './stored-files.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubediag-kept-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const keep = (name: string) => storeFile(home, { kind: 'dumps', name, bytes: Buffer.from(name) });

test('only root can read a stored file, and the oldest files are removed', async () => {
  const paths: string[] = [];
  for (let count = 0; count < STORED_FILES_MAX + 3; count += 1) {
    const stored = await keep(`n${count}`);
    if (!stored.ok) throw new Error(stored.why);
    paths.push(stored.value);
    expect(statSync(stored.value).mode & 0o777).toBe(0o600);
  }
  const [last = ''] = paths.slice(-1);
  expect(readFileSync(last, 'utf8')).toBe(`n${STORED_FILES_MAX + 2}`);
  const left = readdirSync(dirname(last)).map((name) => join(dirname(last), name));
  // By their names: two of the same millisecond have no order.
  expect(left.toSorted()).toEqual(paths.toSorted().slice(-STORED_FILES_MAX));
});

test('nothing is stored in a directory that other users can write', async () => {
  chmodSync(home, 0o777);
  expect(await keep('n')).toMatchObject({
    ok: false,
    why: expect.stringContaining('others than its owner can write'),
  });
});
