import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, expect, test } from 'vitest';
import { StoreFileError } from './sqlite-file.ts';
import { openMemoryStore, openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import { describeStore, newDiagnosis } from './store-contract.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-store-'));
const opened: SqliteStore[] = [];
const newPath = () => join(mkdtempSync(join(scratch, 'state-')), 'store.sqlite');

async function open(path = newPath()): Promise<SqliteStore> {
  const store = await openSqliteStore(path);
  opened.push(store);
  return store;
}

afterEach(() => {
  for (const store of opened.splice(0)) store.close();
});
afterAll(() => rmSync(scratch, { recursive: true }));

describeStore('sqlite', () => open());
describeStore('memory', async () => openMemoryStore());

test('has what it was given when it is opened again, and goes on counting', async () => {
  const path = newPath();
  const before = await open(path);
  const fixture = await before.create(newDiagnosis('one'));
  const deleted = await before.delete({ kind: 'Diagnosis', namespace: 'default', name: 'one' });
  const stored = await before.create(newDiagnosis('two'));
  before.close();
  const after = await open(path);
  const { items, resourceVersion } = await after.list('Diagnosis');
  expect(items).toEqual([stored]);
  expect(resourceVersion).toBe(stored.metadata.resourceVersion);
  const next = await after.create(newDiagnosis('one'));
  expect(Number(next.metadata.resourceVersion)).toBe(Number(resourceVersion) + 1);
  // What happened before it was opened it does not know, and says so.
  const events = after.watch('Diagnosis', fixture.metadata.resourceVersion, neverStopped());
  await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ trouble: 'Gone' });
  expect(Number(deleted.metadata.resourceVersion)).toBeLessThan(Number(resourceVersion));
});

test('is for the eyes of its owner only', async () => {
  const path = newPath();
  const store = await open(path);
  await store.create(newDiagnosis('one'));
  for (const name of readdirSync(join(path, '..'))) {
    expect([name, statSync(join(path, '..', name)).mode & 0o777]).toEqual([name, 0o600]);
  }
  store.close();
  chmodSync(path, 0o644);
  await open(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('is used by one at a time', async () => {
  const path = newPath();
  const first = await open(path);
  await expect(open(path)).rejects.toThrow('is in use: another kubediag has it open');
  first.close();
  await open(path);
});

test('leaves a file alone that is not its own', async () => {
  const path = newPath();
  (await open(path)).close();
  for (const text of ['', 'hello', `SQLite format 3\0${'x'.repeat(200)}`]) {
    writeFileSync(path, text);
    await expect(open(path)).rejects.toThrow('is not used: it is no store of ours');
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
  rmSync(path);
  const foreign = new DatabaseSync(path);
  foreign.exec('CREATE TABLE theirs (a)');
  foreign.close();
  const before = readFileSync(path);
  await expect(open(path)).rejects.toThrow('is not used: it is no store of ours');
  expect(readFileSync(path)).toEqual(before);
  rmSync(path);
  symlinkSync('/etc/hostname', path);
  await expect(open(path)).rejects.toThrow(StoreFileError);
  await expect(open(path)).rejects.toThrow(`${path} is a symbolic link`);
  rmSync(path);
  mkdirSync(`${path}.new`);
  await expect(open(path)).rejects.toThrow(StoreFileError);
});

test('leaves a file alone that a newer version wrote', async () => {
  const path = newPath();
  const store = await open(path);
  await store.create(newDiagnosis('one'));
  store.close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 2');
  database.close();
  const before = readFileSync(path);
  await expect(open(path)).rejects.toThrow('its form is number 2');
  expect(readFileSync(path)).toEqual(before);
});

test('leaves a file alone that is damaged, whatever is wrong with it', async () => {
  const path = newPath();
  const store = await open(path);
  const large = 'x'.repeat(10_000);
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => store.create(newDiagnosis(`${at}`, { large }))),
  );
  store.close();
  const whole = readFileSync(path);
  const spoilt = (from: number, to: number) => {
    const bytes = Buffer.from(whole);
    bytes.fill(0xa5, from, to);
    return bytes;
  };
  const damages = [
    whole.subarray(0, whole.length - 8_192),
    spoilt(0, 100),
    spoilt(100, 4_096),
    spoilt(4_096, 12_288),
  ];
  for (const bytes of damages) {
    writeFileSync(path, bytes);
    await expect(open(path)).rejects.toThrow(/is not used/);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  }
  writeFileSync(path, whole);
  expect((await (await open(path)).list('Diagnosis')).items).toHaveLength(50);
});

test('says so when it is full, and keeps all that it promised', async () => {
  const path = newPath();
  const store = await openSqliteStore(path, { bytesMax: 200 * 1024 });
  opened.push(store);
  const large = 'x'.repeat(50_000);
  const fixture = await store.create(newDiagnosis('one', { large }));
  const more = ['two', 'three', 'four', 'five'].map((name) =>
    store.create(newDiagnosis(name, { large })),
  );
  for (const [at, each] of more.entries()) {
    const message = expect.stringContaining(`default/${['two', 'three', 'four', 'five'][at]},`);
    await expect(each).rejects.toMatchObject({ trouble: 'ServiceUnavailable', message });
  }
  expect(await store.writeError()).toContain('database or disk is full');
  // They were asked for together, and so none of them was taken; what is smaller is.
  const small = await store.create(newDiagnosis('small'));
  expect(Number(small.metadata.resourceVersion)).toBe(Number(fixture.metadata.resourceVersion) + 1);
  store.close();
  expect((await (await open(path)).list('Diagnosis')).items).toEqual([fixture, small]);
});

test('when it is full, what is deleted together with what finds no room is deleted', async () => {
  const store = await openSqliteStore(newPath(), { bytesMax: 1_024 * 1024 });
  opened.push(store);
  const { metadata } = await store.create(newDiagnosis('one', { large: 'x'.repeat(900_000) }));
  const next = newDiagnosis('two', { large: 'x'.repeat(900_000) });
  const [created, deleted] = await Promise.allSettled([
    store.create(next),
    store.delete({ kind: 'Diagnosis', namespace: 'default', name: 'one' }),
  ]);
  expect(created.status).toBe('rejected');
  expect(deleted).toMatchObject({
    status: 'fulfilled',
    value: { metadata: { uid: metadata.uid } },
  });
  expect(await store.create(next)).toMatchObject({ metadata: { name: 'two' } });
  expect(await store.writeError()).toBeUndefined();
});

test('puts changes of the same moment on disk together', async () => {
  const store = await open();
  const before = Number((await store.list('Diagnosis')).resourceVersion);
  const order: string[] = [];
  const asked = ['a', 'b', 'c'].map(async (name) => {
    await store.create(newDiagnosis(name));
    order.push(name, `${(await store.list('Diagnosis')).items.length}`);
  });
  await Promise.all(asked);
  // The first to be told sees all three: there was one commit.
  expect(order).toEqual(['a', '3', 'b', '3', 'c', '3']);
  expect(Number((await store.list('Diagnosis')).resourceVersion)).toBe(before + 3);
});

test('refuses what comes when it is closed', async () => {
  const store = await open();
  const fixture = await store.create(newDiagnosis('one'));
  const events = store.watch('Diagnosis', fixture.metadata.resourceVersion, neverStopped());
  const next = events[Symbol.asyncIterator]().next();
  const late = store.create(newDiagnosis('two'));
  store.close();
  const refused = { trouble: 'ServiceUnavailable' };
  await expect(late).rejects.toMatchObject(refused);
  await expect(store.list('Diagnosis')).rejects.toMatchObject(refused);
  expect(await next).toMatchObject({ done: true });
});

// Each round starts a process of its own.
const patient = { timeout: 60_000 };

test('has every change that it told of, when its process is killed', patient, async () => {
  const path = newPath();
  for (let round = 0; round < 5; round += 1) {
    const reported = await outputUntilKilled(path, round);
    const store = await open(path);
    const { items } = await store.list('Diagnosis');
    const counts = new Map(items.map(({ metadata, status }) => [metadata.name, status?.count]));
    expect(reported.size).toBeGreaterThan(0);
    for (const [name, value] of reported) expect(counts.get(name)).toBeGreaterThanOrEqual(value);
    store.close();
  }
});

/** A child writes counters as fast as it can, and tells each value once it is promised. */
async function outputUntilKilled(path: string, round: number): Promise<Map<string, number>> {
  const reported = new Map<string, number>();
  const script = join(import.meta.dirname, '../../../test/rig/store-writer.ts');
  const child: ChildProcess = spawn(process.execPath, [script, path, `round-${round}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let rest = '';
  let lines = 0;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      const [name = '', value] = line.split(' ');
      reported.set(name, Number(value));
    }
    lines += parts.length;
    if (lines > 200 + round * 150) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  expect(child.signalCode).toBe('SIGKILL');
  return reported;
}

function neverStopped(): AbortSignal {
  return new AbortController().signal;
}
