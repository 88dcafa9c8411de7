import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { VERSION } from '../../src/hosts/local-node/product-version.ts';
import { writeFixture } from '../fault-fixtures.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-odd-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const at = (name: string) => join(scratch, name);
const FIXTURE = await writeFixture('stale-subpath-mount/healthy', scratch);

/** A run that has not ended by now waits for something that will never come. */
const ENDS_MS = 20_000;

function replay(path: string) {
  const { status, signal, stdout, stderr } = spawnSync(EXECUTABLE, ['replay', path], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
    timeout: ENDS_MS,
    killSignal: 'SIGKILL',
  });
  return { code: status, signal, stdout, stderr };
}

function makeFifo(path: string): string {
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  return path;
}

test.each([
  [
    'no archive',
    () => {
      writeFileSync(at('text'), 'hello');
      return at('text');
    },
    'gzip: malformed data',
  ],
  [
    'a file of 3 GB',
    () => {
      writeFileSync(at('large'), '');
      truncateSync(at('large'), 3 * 1024 ** 3);
      return at('large');
    },
    'more than 268435456 bytes',
  ],
  ['a pipe', () => makeFifo(at('pipe')), 'it is neither a file nor a directory'],
  ['a device without end', () => '/dev/zero', 'it is neither a file nor a directory'],
  ['an empty file of the kernel', () => '/proc/self/status', 'it changes while it is read'],
  [
    'a directory with a pipe in it',
    () => {
      mkdirSync(at('piped/blobs'), { recursive: true });
      makeFifo(at('piped/blobs/one'));
      return at('piped');
    },
    'it is neither a file nor a directory',
  ],
  ['an empty directory', () => mkdtempSync(at('empty-')), 'manifest.json is missing'],
])('replay of %s is wrong usage, not a defect, and ends', (_, make, why) => {
  const { code, signal, stdout, stderr } = replay(make());
  expect({ code, signal, stdout }).toEqual({ code: 64, signal: null, stdout: '' });
  expect(stderr).toContain(`: not a valid bundle: ${why}`);
});

test('reports a disk error as such, without the advice to copy it again', () => {
  cpSync(FIXTURE, at('flat'), { recursive: true });
  writeFileSync(at('flat/blobs'), '');
  const { code, stdout, stderr } = replay(at('flat'));
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(`${at('flat')}: ${at('flat/blobs')}: not a directory; `);
  expect(stderr).not.toContain('Copy it again');
});

test('a bundle of a newer version names the version that reads it', () => {
  cpSync(FIXTURE, at('newer'), { recursive: true });
  const manifest = JSON.parse(readFileSync(at('newer/manifest.json'), 'utf8')) as object;
  const newer = { ...manifest, format: 2, madeBy: '9.8.7' };
  writeFileSync(at('newer/manifest.json'), JSON.stringify(newer));
  const { code, stdout, stderr } = replay(at('newer'));
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(`recorded by kubediag 9.8.7, which is newer than this one (${VERSION})`);
  expect(stderr).toContain('Replay it with kubediag 9.8.7 or newer');
  expect(stderr).not.toContain('Copy it again');
});
