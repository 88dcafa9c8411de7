import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KernelTables } from './kernel-tables.ts';

const tables = new KernelTables('/');

function start(program: string, args: readonly string[], output: number | 'ignore'): number {
  const child = spawn(program, args, { stdio: ['ignore', output, output] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  return child.pid ?? 0;
}

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-tables-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('tables of a process, also below another root', async () => {
  const path = `/proc/${process.pid}/mountinfo`;
  for (const here of [tables, new KernelTables(`/proc/${process.pid}/root`)]) {
    expect(await here.ask('file', { path })).toBe(readFileSync(path, 'utf8'));
    const stat = await here.ask('file', { path: `/proc/${process.pid}/stat` });
    expect(stat.split(' ')[0]).toBe(String(process.pid));
  }
});

test('the length of what a process has written', async () => {
  const log = join(scratchFolder(), 'log');
  appendFileSync(log, 'before\n');
  const file = openSync(log, 'a');
  const pid = start('sh', ['-c', 'while echo line; do sleep 0.1; done'], file);
  closeSync(file);
  const length = async () => {
    const text = await tables.ask('file', { path: `/proc/${pid}/fdinfo/1` });
    return Number(/^pos:\s*(\d+)$/m.exec(text)?.[1]);
  };
  await expect.poll(length).toBeGreaterThan(7);
  const before = await length();
  await expect.poll(length).toBeGreaterThan(before);
});

test('a thread that waits for a path', async () => {
  const pipe = join(scratchFolder(), 'pipe');
  await once(spawn('mkfifo', [pipe]), 'exit');
  // It waits in openat until somebody writes.
  const pid = start('cat', [pipe], 'ignore');
  const calls = async () =>
    (await tables.ask('threads', { threadsOf: pid })).map(({ callName }) => callName);
  await expect.poll(calls).toEqual(['openat']);
  const [thread] = await tables.ask('threads', { threadsOf: pid });
  expect(thread).toMatchObject({ tid: pid, path: null });
  expect(thread?.callLine).toBe(readFileSync(`/proc/${pid}/syscall`, 'utf8').trim());
});

test('a process that does not exist, and what is no table', async () => {
  const missing = { failure: 'missing' };
  await expect(tables.ask('file', { path: '/proc/4194305/stat' })).rejects.toMatchObject(missing);
  await expect(tables.ask('threads', { threadsOf: 4_194_305 })).rejects.toMatchObject(missing);
  for (const path of [
    '/etc/hostname',
    '/proc/1/root/etc/hostname',
    '/proc/1/cmdline',
    '/proc/1/fd/2',
  ]) {
    await expect(tables.ask('file', { path })).rejects.toThrow('not a table of the kernel');
  }
  await expect(tables.ask('folder', { path: '/proc' })).rejects.toThrow('not a table');
});
