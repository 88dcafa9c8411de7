import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from './run.ts';

/** Ignores SIGTERM, starts a child, and prints both PIDs. */
const STUBBORN = 'trap "" TERM; sleep 600 & echo $$ $!; while :; do sleep 600; done';

/** A process that runs a program with this time limit and prints its output. */
const HOLDER = `
  import { runProgram } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))};
  const [deadlineMs, scratch] = process.argv.slice(-2);
  await runProgram({
    program: '/bin/sh',
    arguments: ['-c', ${JSON.stringify(STUBBORN)}],
    deadlineMs: Number(deadlineMs),
    outputBytesMax: 1000,
    endsWithUs: { scratch: [scratch, scratch + '/file'] },
    onOutput: (chunk) => (process.stdout.write(chunk), 'more'),
  });
`;

interface Held {
  readonly holder: ChildProcess;
  readonly pids: readonly number[];
  readonly scratch: string;
}

async function hold(deadlineMs: number): Promise<Held> {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-held-'));
  writeFileSync(join(scratch, 'file'), '');
  const text = ['--no-warnings', '--input-type=module', '-e', HOLDER, `${deadlineMs}`, scratch];
  const holder = spawn(process.execPath, text, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = (await once(holder.stdout, 'data')) as [Buffer];
  const pids = output.toString().trim().split(' ').map(Number);
  onTestFinished(() => {
    holder.kill('SIGKILL');
    // Processes are left only if the test has failed.
    if (pids.some(isAlive)) process.kill(-(pids[0] ?? 0), 'SIGKILL');
    rmSync(scratch, { recursive: true, force: true });
  });
  expect(pids.map(isAlive)).toEqual([true, true]);
  return { holder, pids, scratch };
}

function procFile(pid: number | string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return ''; // The process has exited since it was listed.
  }
}

function isAlive(pid: number): boolean {
  return /\) [^ZX] /.test(procFile(pid, 'stat'));
}

async function areGone(pids: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < 300 && pids.some(isAlive); tries += 1) await sleep(25);
  return !pids.some(isAlive);
}

const patient = { timeout: 20_000 };

test('the program and its children are killed when we are killed', patient, async () => {
  const { holder, pids, scratch } = await hold(600_000);
  holder.kill('SIGKILL');
  expect(await areGone(pids)).toBe(true);
  for (let tries = 0; tries < 100 && existsSync(scratch); tries += 1) await sleep(25);
  expect(existsSync(scratch)).toBe(false);
});

test('the deadline of the program holds also while we are stopped', patient, async () => {
  const { holder, pids, scratch } = await hold(1_000);
  holder.kill('SIGSTOP');
  expect(await areGone(pids)).toBe(true);
  expect(existsSync(scratch)).toBe(true);
});

test('the watcher exits with the program', async () => {
  const limits = { deadlineMs: 5_000, outputBytesMax: 1_000, endsWithUs: {} };
  const program = { program: '/bin/sh', arguments: ['-c', 'echo $$; read x; exit 3'] };
  const ended = await runProgram({ ...program, ...limits, input: '' });
  expect(ended).toMatchObject({ ended: 'exit', code: 3, isHeld: false });
  const pid = 'stdout' in ended ? ended.stdout.trim() : '';
  expect(pid).toMatch(/^\d+$/);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const watchers = pids.filter((each) => procFile(each, 'cmdline').split('\0').includes(pid));
  expect(await areGone(watchers.map(Number))).toBe(true);
});
