import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { readTar, writeTar } from './tar.ts';

const entry = fc.record({
  name: fc.stringMatching(/^[a-z0-9][a-z0-9./_-]{0,90}$/),
  content: fc.uint8Array({ maxLength: 2_000 }),
});

test('reads the entries that it wrote', () => {
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      expect(readTar(writeTar(entries))).toEqual(entries);
    }),
  );
});

test('is compatible with the tar of the system in both directions', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-tar-'));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  writeFileSync(
    join(scratch, 'ours.tar'),
    writeTar([
      { name: 'one', content: Buffer.from('first\n') },
      { name: 'two', content: Buffer.from('#!'), mode: 0o755 },
      { name: 'three', content: new Uint8Array(), linkTo: 'one' },
    ]),
  );
  execFileSync('tar', ['-xf', 'ours.tar'], { cwd: scratch });
  expect(readFileSync(join(scratch, 'one'), 'utf8')).toBe('first\n');
  expect(readlinkSync(join(scratch, 'three'))).toBe('one');
  const modes = ['one', 'two'].map((name) => statSync(join(scratch, name)).mode & 0o100);
  expect(modes).toEqual([0, 0o100]);
  execFileSync('tar', ['-cf', 'theirs.tar', 'one'], { cwd: scratch });
  const [read] = readTar(readFileSync(join(scratch, 'theirs.tar'))) ?? [];
  expect(read?.name).toBe('one');
  expect(Buffer.from(read?.content ?? []).toString()).toBe('first\n');
});

test('a damaged archive is rejected', () => {
  const sound = writeTar([{ name: 'one', content: new Uint8Array(700) }]);
  expect(readTar(sound.subarray(0, 600))).toBeUndefined();
  expect(readTar(new Uint8Array(100))).toBeUndefined();
  const bent = sound.slice();
  bent[5] = 0x21;
  expect(readTar(bent)).toBeUndefined();
});
