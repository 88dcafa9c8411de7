import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type DaemonCommand, startDaemon } from './daemon.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-daemon-'));
const logFile = join(scratch, 'log');

afterAll(() => rmSync(scratch, { recursive: true }));

function shell(script: string, options: Partial<DaemonCommand> = {}) {
  return startDaemon({
    program: '/bin/sh',
    arguments: ['-c', script],
    logFile,
    deadlineMs: 20_000,
    manner: 'says-ready',
    ...options,
  });
}

test('a daemon that prints ready runs in its own session', async () => {
  const start = await shell('echo ready; echo note >&2; exec sleep 60');
  if (!start.started) throw new Error(start.why);
  const [session] = readFileSync(`/proc/${start.pid}/stat`, 'utf8').split(' ').slice(5, 6);
  await expect.poll(() => readFileSync(logFile, 'utf8'), { timeout: 10_000 }).toContain('note\n');
  process.kill(start.pid, 'SIGKILL');
  expect(session).toBe(String(start.pid));
});

test('reports one that ends early, is late or cannot be started, and leaves nothing running', async () => {
  expect(await shell('exit 3')).toEqual({ started: false, why: 'it ended with code 3' });
  const late = await shell(`echo $$ >${scratch}/pid; exec sleep 60`, { deadlineMs: 500 });
  expect(late).toEqual({ started: false, why: 'it was not ready within 0.5 s' });
  const pid = Number(readFileSync(join(scratch, 'pid'), 'utf8'));
  const isGone = () => {
    try {
      return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return true;
    }
  };
  await expect.poll(isGone).toBe(true);
  const missing = await shell('', { program: join(scratch, 'nothing') });
  expect(missing).toMatchObject({ started: false, why: expect.stringContaining('ENOENT') });
  const unlogged = await shell('', { logFile: join(scratch, 'no/folder') });
  expect(unlogged).toMatchObject({ started: false, why: expect.stringContaining('ENOENT') });
});

test('a silent daemon has started as soon as it runs, and its output goes to the log', async () => {
  const start = await shell('echo printed', { manner: 'silent' });
  expect(start.started).toBe(true);
  await expect.poll(() => readFileSync(logFile, 'utf8')).toContain('printed\n');
});
