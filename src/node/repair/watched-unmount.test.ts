import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ACTION,
  OTHER_LINE,
  ROOT_LINE,
  STALE_LINE,
  TARGET,
} from '../../../test/synthetic-repair.ts';
import { type Mount, parseMountTable } from '../evidence/mounts/mount-table.ts';
import type { HeldProcess } from './held-process.ts';
import { changeOf, unmountResult, watchMount } from './watched-unmount.ts';

/** As the kubelet mounts it again. */
const NEW_LINE = `231 22 254:1 /new/nginx.log ${TARGET} rw - ext4 /dev/vda1 rw`;
const START_TIME = 1893;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubediag-watched-'));
  startedAt(START_TIME);
  shows(ROOT_LINE, STALE_LINE, OTHER_LINE);
});
afterEach(() => rmSync(folder, { recursive: true }));

function held(): HeldProcess {
  return { pid: 812, folder, startTime: START_TIME, namespace: -1, root: -1, isOurView: true };
}

function startedAt(tick: number): void {
  const stat = `812 (kubelet) S 1 812 812 0 -1 4 5 0 0 0 1 3 0 0 20 0 14 0 ${tick} 0`;
  writeFileSync(join(folder, 'stat'), stat);
}

function shows(...lines: readonly string[]): void {
  writeFileSync(join(folder, 'mountinfo'), `${lines.join('\n')}\n`);
}

function mountOf(line: string): Mount {
  const [mount] = parseMountTable(`${line}\n`, 'here').mounts;
  if (!mount) throw new Error(`no mount: ${line}`);
  return mount;
}

test('directly before the act, nothing stands against the mount that was diagnosed', async () => {
  expect(await changeOf(ACTION, held())).toBeUndefined();
});

test('directly before the act, a mount that is gone leaves nothing to do', async () => {
  shows(ROOT_LINE, OTHER_LINE);
  expect(await changeOf(ACTION, held())).toEqual({
    state: 'did',
    note: 'nothing to do: the mount is gone already',
  });
});

test.each([
  { lines: [NEW_LINE], what: 'the mount changed since it was diagnosed' },
  { lines: [STALE_LINE, NEW_LINE], what: 'another mount lies over this one' },
])('directly before the act, another mount at the path is seen: $what', async (changed) => {
  shows(ROOT_LINE, ...changed.lines);
  expect(await changeOf(ACTION, held())).toMatchObject({ state: 'changed', what: changed.what });
});

test.each([
  { now: 'another process', change: () => startedAt(START_TIME + 1), why: 'another one now' },
  { now: 'no process', change: () => rmSync(join(folder, 'stat')), why: 'has ended (ENOENT)' },
  { now: 'no table', change: () => rmSync(join(folder, 'mountinfo')), why: 'mountinfo: ENOENT' },
])('directly before the act, the pid has $now', async ({ change, why }) => {
  change();
  expect(await changeOf(ACTION, held())).toEqual({
    state: 'changed',
    what: 'the kubelet is no longer the process that was identified',
    why: expect.stringContaining(why),
  });
});

test('a table that cannot be read as a whole is no permission to act', async () => {
  shows(ROOT_LINE, STALE_LINE.slice(0, 20));
  expect(await changeOf(ACTION, held())).toEqual({
    state: 'changed',
    what: 'the mount table does not come to rest',
    why: '/proc/812/mountinfo changed during each of 20 reads',
  });
});

test('an unmount is stopped as soon as another mount is at its path', async () => {
  let stops = 0;
  const watching = watchMount(ACTION, held(), sleep(5_000), () => {
    stops += 1;
  });
  await sleep(50);
  expect(stops).toBe(0);
  shows(ROOT_LINE, STALE_LINE, OTHER_LINE, NEW_LINE);
  expect(await watching).toMatchObject({ id: 231, target: TARGET });
  expect(stops).toBe(1);
});

test('an unmount that ends with nothing else at its path is not stopped', async () => {
  const ended = Promise.withResolvers<void>();
  const stop = () => expect.unreachable('it was stopped');
  const watching = watchMount(ACTION, held(), ended.promise, stop);
  await sleep(50);
  shows(ROOT_LINE, OTHER_LINE);
  await sleep(50);
  ended.resolve();
  expect(await watching).toBeUndefined();
});

const DID = { state: 'did' } as const;
const FAILED = { state: 'failed', why: 'umount: target is busy' } as const;
const UNENDING = { state: 'unending', why: 'no answer' } as const;
const SEEN = mountOf(NEW_LINE);

test.each([
  { after: 'the mount is gone', said: DID, lines: [OTHER_LINE], is: DID },
  { after: 'it stays, as umount said', said: FAILED, lines: [STALE_LINE], is: FAILED },
  {
    after: 'it stays, although umount succeeded',
    said: DID,
    lines: [STALE_LINE],
    is: { state: 'hit-another', why: expect.stringContaining('still shows 216 22') },
  },
  {
    after: 'the other one was there, and is gone',
    said: DID,
    seen: SEEN,
    lines: [STALE_LINE],
    is: { state: 'hit-another', why: expect.stringContaining('mount 231 of /new/nginx.log') },
  },
  {
    after: 'both are there',
    said: FAILED,
    seen: SEEN,
    lines: [STALE_LINE, NEW_LINE],
    is: { state: 'changed', why: expect.stringContaining('now shows 231 22') },
  },
  {
    after: 'the other one alone is there',
    said: FAILED,
    seen: SEEN,
    lines: [NEW_LINE],
    is: { state: 'did', note: expect.stringContaining('was left alone') },
  },
  { after: 'umount has not ended', said: UNENDING, seen: SEEN, lines: [], is: UNENDING },
])('what was really unmounted is read from the table: $after', async (ended) => {
  shows(ROOT_LINE, ...ended.lines);
  expect(await unmountResult(ACTION, held(), ended.said, ended.seen)).toMatchObject(ended.is);
});
