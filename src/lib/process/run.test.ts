import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { drainMs, killGraceMs, termGraceMs } from './limits.ts';
import { type Program, type ProgramResult, runProgram } from './run.ts';

/** The delay of timers on a busy machine. */
const SLACK_MS = 1_500;

/** The programs of these tests are shell scripts. */
function shell(script: string, rest: Partial<Program> = {}): Promise<ProgramResult> {
  return runProgram({
    program: '/bin/sh',
    arguments: ['-c', script],
    deadlineMs: 5_000,
    outputBytesMax: 1_000,
    ...rest,
  });
}

async function timed(run: () => Promise<ProgramResult>) {
  const begun = performance.now();
  const result = await run();
  return { result, tookMs: performance.now() - begun };
}

function isAlive(pid: number): boolean {
  try {
    // A zombie counts as exited.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function waitUntilDead(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 40 && isAlive(pid); tries += 1) await sleep(25);
  return !isAlive(pid);
}

const output = { isCut: false, isHeld: false };

test('a program that exits returns its code and both outputs', async () => {
  const result = await shell('echo out; echo err >&2; exit 3');
  expect(result).toEqual({ ended: 'exit', code: 3, stdout: 'out\n', stderr: 'err\n', ...output });
});

test('a program that is killed returns the signal', async () => {
  const result = await shell('kill -9 $$');
  expect(result).toEqual({ ended: 'signal', signal: 'SIGKILL', stdout: '', stderr: '', ...output });
});

test('a missing program is reported as not started', async () => {
  const result = await shell('', { program: '/nowhere/umount' });
  expect(result).toMatchObject({ ended: 'not-started', code: 'ENOENT' });
});

test('an argument with a NUL byte is reported as not started', async () => {
  const result = await shell('', { arguments: ['a\0b'] });
  expect(result).toMatchObject({ ended: 'not-started', code: 'ERR_INVALID_ARG_VALUE' });
});

test('nothing of our environment is inherited, and messages are in English', async () => {
  process.env.KUBEDIAG_TEST_SECRET = 'secret';
  const result = await shell('echo "$KUBEDIAG_TEST_SECRET|$LC_ALL"');
  delete process.env.KUBEDIAG_TEST_SECRET;
  expect(result).toMatchObject({ stdout: '|C\n' });
});

test('the input reaches the program', async () => {
  expect(await shell('cat', { input: 'asked' })).toMatchObject({ stdout: 'asked', code: 0 });
});

test('the program inherits an open file, which stays open here', async () => {
  const file = openSync(import.meta.filename, 'r');
  expect(await shell('head -c 6 <&3', { files: [file] })).toMatchObject({ stdout: 'import' });
  closeSync(file);
});

test('a program that does not read a large input still exits', async () => {
  const result = await shell('exit 0', { input: 'x'.repeat(1_000_000) });
  expect(result).toMatchObject({ ended: 'exit', code: 0 });
});

test('output beyond the limit is cut and marked as cut', async () => {
  const result = await shell('i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done');
  expect(result).toMatchObject({ ended: 'exit', code: 0, isCut: true });
  expect(result).toHaveProperty('stdout.length', 1_000);
});

test('a listener gets the output in chunks, and ends the program with "enough"', async () => {
  let taken = 0;
  const onOutput = (chunk: Buffer) => {
    taken += chunk.length;
    return taken < 50_000 ? ('more' as const) : ('enough' as const);
  };
  const result = await shell('echo err >&2; while :; do echo 0123456789; done', { onOutput });
  expect(result).toMatchObject({ ended: 'signal', stdout: '', stderr: 'err\n', isCut: true });
  expect(taken).toBeGreaterThanOrEqual(50_000);
  const all = await shell('echo one', { onOutput: () => 'more' });
  expect(all).toEqual({ ended: 'exit', code: 0, stdout: '', stderr: '', ...output });
});

test('a program gets SIGTERM at its deadline', async () => {
  const { result, tookMs } = await timed(() => shell('echo begun; sleep 60', { deadlineMs: 200 }));
  expect(result).toEqual({ ended: 'deadline', stdout: 'begun\n', stderr: '', ...output });
  expect(tookMs).toBeLessThan(200 + SLACK_MS);
});

test('an aborted program ends at once, as at its deadline', async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  const { result, tookMs } = await timed(() => shell('sleep 60', { stop: stop.signal }));
  expect(result).toEqual({ ended: 'deadline', stdout: '', stderr: '', ...output });
  expect(tookMs).toBeLessThan(100 + SLACK_MS);
  expect(await shell('sleep 60', { stop: stop.signal })).toMatchObject({ ended: 'deadline' });
});

test('a program that ignores SIGTERM is killed', async () => {
  const { result, tookMs } = await timed(() =>
    shell('trap "" TERM; echo $$; while :; do sleep 60; done', { deadlineMs: 200 }),
  );
  expect(result).toMatchObject({ ended: 'deadline' });
  expect(result).not.toHaveProperty('abandoned');
  expect(tookMs).toBeLessThan(200 + termGraceMs + killGraceMs + SLACK_MS);
  if ('stdout' in result) expect(await waitUntilDead(Number(result.stdout))).toBe(true);
});

test('a grandchild that holds the pipe open is killed and does not delay the answer', async () => {
  const { result, tookMs } = await timed(() => shell('sleep 60 & echo $!; exit 0'));
  expect(result).toMatchObject({ ended: 'exit', code: 0, isHeld: false });
  expect(tookMs).toBeLessThan(2 * drainMs + SLACK_MS);
  if ('stdout' in result) expect(await waitUntilDead(Number(result.stdout))).toBe(true);
});

test('a grandchild of the group without a pipe of ours is killed too', async () => {
  const result = await shell('sleep 60 >/dev/null 2>&1 & echo $!; exit 0');
  expect(result).toMatchObject({ ended: 'exit', code: 0 });
  if ('stdout' in result) expect(await waitUntilDead(Number(result.stdout))).toBe(true);
});

test('a grandchild in its own session does not delay the answer, and is reported', async () => {
  const { result, tookMs } = await timed(() =>
    shell('setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 0.2; exit 0'),
  );
  expect(tookMs).toBeLessThan(200 + 2 * drainMs + SLACK_MS);
  expect(result).toMatchObject({ ended: 'exit', code: 0, isHeld: true });
  if ('stdout' in result) {
    const escaped = Number(result.stdout);
    expect(isAlive(escaped)).toBe(true);
    process.kill(escaped, 'SIGKILL');
  }
});

test('one that writes without end neither', async () => {
  const { result, tookMs } = await timed(() =>
    shell('setsid sh -c "echo \\$\\$; while :; do echo x; done" & sleep 0.2; exit 0'),
  );
  if ('stdout' in result) process.kill(Number.parseInt(result.stdout, 10), 'SIGKILL');
  expect(tookMs).toBeLessThan(200 + 2 * drainMs + SLACK_MS);
  expect(result).toMatchObject({ ended: 'exit', code: 0, isHeld: true });
});

test('output that a busy event loop reads late is not taken for a process that lives on', async () => {
  let isOver = false;
  const blockLoop = () => {
    if (isOver) return;
    const until = performance.now() + 1.5 * drainMs;
    while (performance.now() < until);
    setImmediate(blockLoop);
  };
  blockLoop();
  const script = 'head -c 500000 /dev/zero';
  const rest = { outputBytesMax: 1_000_000, deadlineMs: 60_000 };
  const results = await Promise.all(Array.from({ length: 10 }, () => shell(script, rest)));
  isOver = true;
  for (const result of results) {
    expect(result).toMatchObject({ ended: 'exit', code: 0, isHeld: false });
    expect(result).toHaveProperty('stdout.length', 500_000);
  }
});

test('a session of its own does not delay the deadline either', async () => {
  const { result, tookMs } = await timed(() =>
    shell('setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 60', { deadlineMs: 300 }),
  );
  expect(result).toMatchObject({ ended: 'deadline', isHeld: true });
  expect(tookMs).toBeLessThan(300 + 2 * drainMs + SLACK_MS);
  if ('stdout' in result) process.kill(Number(result.stdout), 'SIGKILL');
});
