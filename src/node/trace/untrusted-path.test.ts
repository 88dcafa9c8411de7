import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemProgram } from '../../lib/process/run.ts';
import { startTracer } from './start-tracer.ts';

const before = process.env.PATH ?? '';
let folder: string;

/** Somebody's own directory is the first of PATH, with a program of every name that we start. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-path-'));
  for (const name of ['unshare', 'mount', 'bpftrace']) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho ran >${folder}/ran\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env.PATH = `${folder}:${before}`;
});

afterEach(() => {
  process.env.PATH = before;
  rmSync(folder, { recursive: true });
});

test('a program is taken from the directories of the system', () => {
  expect(systemProgram('unshare')).toMatch(/^\/(?:usr\/)?s?bin\/unshare$/);
  expect(systemProgram('no-such-program')).toBeUndefined();
  expect(systemProgram('bpftrace') ?? '/usr').toMatch(/^\/usr/);
});

test('the tracer is started by no program of PATH', async () => {
  const own = () => ({ program: '/usr/bin/true', arguments: [] });
  const events = { onStart: () => {}, onNote: () => {}, onCall: () => {} };
  const options = { seconds: 1, bpftrace: undefined, own };
  const end = await startTracer(options, events, new AbortController().signal);
  expect(end).toMatchObject({ failure: 'tracer-failed' });
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});
