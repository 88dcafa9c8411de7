import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTimeOf } from '../std/start-time-of.ts';
import { heldNodeLock, takeNodeLock } from './node-lock.ts';
import { thisProcess } from './this-process.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const self = thisProcess();
/** Another process that is alive as long as this test runs. */
const parent = {
  pid: process.ppid,
  startTime: startTimeOf(readFileSync(`/proc/${process.ppid}/stat`, 'utf8')),
};

async function taken(): Promise<boolean> {
  return (await takeNodeLock(folder, self)).isTaken;
}

test('a live holder is named, and the lock is free again after its release', async () => {
  const first = await takeNodeLock(folder, self);
  if (!first.isTaken) throw new Error(first.what);
  const second = await takeNodeLock(folder, self);
  expect(second).toMatchObject({
    isTaken: false,
    what: expect.stringMatching(
      `^another recovery \\(pid ${self.pid}, since 20.* UTC\\) is at work on this node$`,
    ),
    why: `it holds the lock of ${folder}`,
    todo: 'wait until it is done',
  });
  first.lock.release();
  const third = await takeNodeLock(folder, self);
  expect(third.isTaken).toBe(true);
  // A second release does not take it from the next holder.
  first.lock.release();
  expect(await taken()).toBe(false);
});

test('a holder without a holder file still has the lock', async () => {
  await takeNodeLock(folder, self);
  for (const content of ['', '{"pid":', '\0\0\0\0', '{"pid":1}']) {
    writeFileSync(join(folder, 'holder'), content);
    expect(await takeNodeLock(folder, self)).toMatchObject({
      what: 'another recovery is at work on this node',
    });
  }
});

test('only our account can access the lock, and it leaves nothing else behind', async () => {
  await takeNodeLock(folder, self);
  expect(readdirSync(folder)).toEqual(['holder', 'lock-1']);
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
});

test('reading the holder changes nothing', async () => {
  expect(await heldNodeLock(join(folder, 'none'), self)).toBeUndefined();
  expect(await heldNodeLock(folder, self)).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
  const first = await takeNodeLock(folder, self);
  if (!first.isTaken) throw new Error(first.what);
  for (let time = 0; time < 2; time += 1) {
    expect((await heldNodeLock(folder, self))?.what).toContain(
      `another recovery (pid ${self.pid}, since`,
    );
  }
  expect(await taken()).toBe(false);
  first.lock.release();
  expect(await heldNodeLock(folder, self)).toBeUndefined();
  expect(await taken()).toBe(true);
});

test('a file that is no socket, or a socket without a listener, does not block the lock', async () => {
  mkdirSync(join(folder, 'lock-1'));
  writeFileSync(join(folder, 'lock-7'), '');
  expect(await taken()).toBe(true);
  expect(readdirSync(folder)).toContain('lock-8');
  expect(await taken()).toBe(false);
});

/** Takes the lock and holds it. */
const HOLDER = `
  import { takeKernelLock } from ${JSON.stringify(join(import.meta.dirname, 'kernel-lock.ts'))};
  await takeKernelLock(process.argv[1]);
  console.log('has it');
  setInterval(() => {}, 1000);
`;

test('a stopped holder with a full backlog still has the lock', async () => {
  const words = ['--input-type=module-typescript', '--no-warnings', '-e', HOLDER, folder];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  const full = Promise.withResolvers<void>();
  for (let number = 0; number < 2_000; number += 1) {
    const socket = createConnection(join(folder, 'lock-1'));
    socket.on('error', () => full.resolve());
    onTestFinished(() => void socket.destroy());
  }
  await full.promise;
  expect(await taken()).toBe(false);
});

test('a directory behind a link of the kernel is locked as well', async () => {
  const behind = `/proc/self/root${folder}`;
  const first = await takeNodeLock(folder, self);
  expect((await takeNodeLock(behind, self)).isTaken).toBe(false);
  if (first.isTaken) first.lock.release();
  expect((await takeNodeLock(behind, self)).isTaken).toBe(true);
  expect(await taken()).toBe(false);
});

describe('the numbered files of an earlier version', () => {
  function leave(generation: number, changes: object): void {
    const holder = { ...self, ...parent, since: '2026-01-02T10:22:33.000Z', ...changes };
    writeFileSync(join(folder, `lock.${generation}`), JSON.stringify(holder));
  }

  test('name a holder that is alive', async () => {
    leave(9, { pid: 2 ** 22 + 1 });
    leave(10, {});
    const answer = await takeNodeLock(folder, self);
    expect(answer).toMatchObject({
      what: `another recovery (pid ${parent.pid}, since 2026-01-02 10:22:33 UTC) is at work on this node`,
      why: `it holds the lock of ${join(folder, 'lock.10')}`,
    });
    expect(await heldNodeLock(folder, self)).toMatchObject({
      why: `it holds the lock of ${join(folder, 'lock.10')}`,
    });
  });

  test.each([
    ['a process that ended', { pid: 2 ** 22 + 1 }],
    ['an earlier process of the same pid', { startTime: 1 }],
    ['an earlier boot', { boot: 'another' }],
    ['a container that we cannot see', { pidNamespace: 'pid:[1]' }],
    ['nobody', { pid: undefined }],
  ])('are removed when they name %s', async (_, changes) => {
    leave(6, {});
    leave(7, changes);
    expect(await taken()).toBe(true);
    expect(readdirSync(folder)).toEqual(['holder', 'lock-1']);
  });
});

const TAKER = `
  import { appendFileSync } from 'node:fs';
  import { takeNodeLock } from ${JSON.stringify(join(import.meta.dirname, 'node-lock.ts'))};
  import { thisProcess } from ${JSON.stringify(join(import.meta.dirname, 'this-process.ts'))};
  const [directory, log] = process.argv.slice(-2);
  const until = Date.now() + 1500;
  while (Date.now() < until) {
    const answer = await takeNodeLock(directory, thisProcess());
    if (!answer.isTaken) continue;
    appendFileSync(log, 'in\\n');
    if (Math.random() < 0.3) await new Promise((resolve) => setTimeout(resolve, 1));
    appendFileSync(log, 'out\\n');
    // One in ten is killed while it holds the lock.
    if (Math.random() < 0.1) process.kill(process.pid, 'SIGKILL');
    answer.lock.release();
  }
`;

test('only one of many processes has the lock at a time, although some are killed with it', async () => {
  const log = join(folder, 'log');
  const state = join(folder, 'state');
  const words = ['--input-type=module-typescript', '--no-warnings', '-e', TAKER, state, log];
  const runs = Array.from({ length: 6 }, async () => {
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    expect(await text(child.stderr)).toBe('');
  });
  await Promise.all(runs);
  const semaphore = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(semaphore.length).toBeGreaterThan(20);
  expect(semaphore.every((turn, at) => turn === (at % 2 === 0 ? 'in' : 'out'))).toBe(true);
});
