import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTimeOf } from '../std/start-time-of.ts';
import { takeNodeLock } from './node-lock.ts';
import { thisProcess } from './this-process.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const self = thisProcess();
/** Somebody else who is alive as long as this test runs. */
const parent = {
  pid: process.ppid,
  startTime: startTimeOf(readFileSync(`/proc/${process.ppid}/stat`, 'utf8')),
};

/** A lock left by somebody, with some of the facts about them changed. */
function leaveLock(generation: number, changes: object): void {
  const holder = { ...self, ...parent, since: '2026-01-02T10:22:33.000Z', ...changes };
  writeFileSync(join(folder, `lock.${generation}`), JSON.stringify(holder));
}

async function taken(): Promise<boolean> {
  return (await takeNodeLock(folder, self)).isTaken;
}

test('a live holder is named, and the lock is free again after its release', async () => {
  const first = await takeNodeLock(folder, self);
  if (!first.isTaken) throw new Error(first.what);
  const second = await takeNodeLock(folder, self);
  expect(second).toMatchObject({ isTaken: false, todo: 'wait until it is done' });
  expect(second).toHaveProperty('what', expect.stringMatching(`pid ${self.pid}, since 20`));
  first.lock.release();
  expect(await taken()).toBe(true);
});

test('the message says who is at work, and since when', async () => {
  leaveLock(1, {});
  expect(await takeNodeLock(folder, self)).toMatchObject({
    what: `another recovery (pid ${parent.pid}, since 2026-01-02 10:22:33 UTC) is at work on this node`,
  });
});

test.each([
  ['a process that ended', { pid: 2 ** 22 + 1 }],
  ['an earlier process of the same pid', { startTime: 1 }],
  ['an earlier boot', { boot: 'another' }],
])('the lock of %s is taken over', async (_, changes) => {
  leaveLock(7, changes);
  expect(await taken()).toBe(true);
  expect(readdirSync(folder)).toEqual(['lock.8']);
});

test.each(['', '{"pid":', '\0\0\0\0'])('a lock without a holder is free: %j', async (content) => {
  writeFileSync(join(folder, 'lock.3'), content);
  expect(await taken()).toBe(true);
});

test('a holder in a container that we cannot see is believed, with the way out', async () => {
  leaveLock(1, { pidNamespace: 'pid:[1]', pid: 2 ** 22 + 1 });
  expect(await takeNodeLock(folder, self)).toMatchObject({
    isTaken: false,
    todo: `wait until it is done; if it is surely gone, empty ${join(folder, 'lock.1')}`,
  });
});

test('the lock is for our eyes only, and leaves nothing else behind', async () => {
  await takeNodeLock(folder, self);
  expect(readdirSync(folder)).toEqual(['lock.1']);
  expect(statSync(join(folder, 'lock.1')).mode & 0o777).toBe(0o600);
});

const TAKER = `
  import { appendFileSync } from 'node:fs';
  import { takeNodeLock } from ${JSON.stringify(join(import.meta.dirname, 'node-lock.ts'))};
  import { thisProcess } from ${JSON.stringify(join(import.meta.dirname, 'this-process.ts'))};
  const [folder, log] = process.argv.slice(-2);
  const until = Date.now() + 1500;
  while (Date.now() < until) {
    const answer = await takeNodeLock(folder, thisProcess());
    if (!answer.isTaken) continue;
    appendFileSync(log, 'in\\n');
    if (Math.random() < 0.3) await new Promise((resolve) => setTimeout(resolve, 1));
    appendFileSync(log, 'out\\n');
    // One in ten dies with the lock in its hand.
    if (Math.random() < 0.1) process.kill(process.pid, 'SIGKILL');
    answer.lock.release();
  }
`;

test('of many processes that want it at once, some dying with it, one has it at a time', async () => {
  const log = join(folder, 'log');
  const state = join(folder, 'state');
  const words = ['--input-type=module-typescript', '--no-warnings', '-e', TAKER, state, log];
  const runs = Array.from({ length: 6 }, async () => {
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    expect(await text(child.stderr)).toBe('');
  });
  await Promise.all(runs);
  const turns = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(turns.length).toBeGreaterThan(20);
  expect(turns.every((turn, at) => turn === (at % 2 === 0 ? 'in' : 'out'))).toBe(true);
});
