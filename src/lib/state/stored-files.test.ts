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
  let last = '';
  for (let count = 0; count < STORED_FILES_MAX + 3; count += 1) {
    const stored = await keep(`n${count}`);
    if (!stored.ok) throw new Error(stored.why);
    last = stored.value;
    expect(statSync(last).mode & 0o777).toBe(0o600);
  }
  expect(readFileSync(last, 'utf8')).toBe(`n${STORED_FILES_MAX + 2}`);
  const names = readdirSync(dirname(last)).map((name) => name.replace(/^.*-/, ''));
  expect(names).toHaveLength(STORED_FILES_MAX);
  expect(names).not.toContain('n2');
  expect(names).toContain('n3');
});

test('nothing is stored in a directory that other users can write', async () => {
  chmodSync(home, 0o777);
  expect(await keep('n')).toMatchObject({
    ok: false,
    why: expect.stringContaining('others than its owner can write'),
  });
});
