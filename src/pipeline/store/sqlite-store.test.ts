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
import { HISTORY_EVENTS_MAX } from './limits.ts';
import { StoreFileError } from './sqlite-file.ts';
import { openMemoryStore, openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import type { StoredObject, StoreEvent, WatchOptions } from './store.ts';
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

test('has all objects after a restart, and counts versions on', async () => {
  const path = newPath();
  const before = await open(path);
  const fixture = await before.create(newDiagnosis('one'));
  await before.delete({ kind: 'Diagnosis', namespace: 'default', name: 'one' });
  const stored = await before.create(newDiagnosis('two'));
  before.close();
  const after = await open(path);
  const { items, resourceVersion } = await after.list('Diagnosis');
  expect(items).toEqual([stored]);
  expect(resourceVersion).toBe(stored.metadata.resourceVersion);
  const next = await after.create(newDiagnosis('one'));
  expect(Number(next.metadata.resourceVersion)).toBe(Number(resourceVersion) + 1);
  // Changes before the restart are not known any more.
  const events = after.watch('Diagnosis', watchFrom(fixture));
  await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'Expired' });
});

test('can be read by its owner only', async () => {
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

test('can be opened by one process at a time', async () => {
  const path = newPath();
  const first = await open(path);
  await expect(open(path)).rejects.toThrow('in use by another kubediag');
  first.close();
  await open(path);
});

test('leaves a foreign file unchanged', async () => {
  const path = newPath();
  (await open(path)).close();
  for (const text of ['', 'hello', `SQLite format 3\0${'x'.repeat(200)}`]) {
    writeFileSync(path, text);
    await expect(open(path)).rejects.toThrow('not a kubediag store');
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
  rmSync(path);
  const foreign = new DatabaseSync(path);
  foreign.exec('CREATE TABLE theirs (a)');
  foreign.close();
  const before = readFileSync(path);
  await expect(open(path)).rejects.toThrow('not a kubediag store');
  expect(readFileSync(path)).toEqual(before);
  rmSync(path);
  symlinkSync('/etc/hostname', path);
  await expect(open(path)).rejects.toThrow(StoreFileError);
  await expect(open(path)).rejects.toThrow(`${path}: a symbolic link`);
  rmSync(path);
  mkdirSync(`${path}.new`);
  await expect(open(path)).rejects.toThrow(StoreFileError);
});

test('leaves a file of a newer version unchanged', async () => {
  const path = newPath();
  const store = await open(path);
  await store.create(newDiagnosis('one'));
  store.close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 3');
  database.close();
  const before = readFileSync(path);
  await expect(open(path)).rejects.toThrow(
    'schema version 3, and this kubediag supports versions up to 2',
  );
  expect(readFileSync(path)).toEqual(before);
});

test('leaves a damaged file unchanged, whatever is wrong with it', async () => {
  const path = newPath();
  const store = await open(path);
  const large = 'x'.repeat(10_000);
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => store.create(newDiagnosis(`${at}`, { large }))),
  );
  store.close();
  const sound = readFileSync(path);
  const damagedFrom = (from: number, to: number) => {
    const bytes = Buffer.from(sound);
    bytes.fill(0xa5, from, to);
    return bytes;
  };
  const damages = [
    sound.subarray(0, sound.length - 8_192),
    damagedFrom(0, 100),
    damagedFrom(100, 4_096),
    damagedFrom(4_096, 12_288),
  ];
  for (const bytes of damages) {
    writeFileSync(path, bytes);
    await expect(open(path)).rejects.toThrow(/: damaged|its header is damaged/);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  }
  writeFileSync(path, sound);
  expect((await (await open(path)).list('Diagnosis')).items).toHaveLength(50);
});

test('rejects writes when it is full, and has all that it confirmed', async () => {
  const path = newPath();
  const store = await openSqliteStore(path, { bytesMax: 200 * 1024 });
  opened.push(store);
  const large = 'x'.repeat(50_000);
  const fixture = await store.create(newDiagnosis('one', { large }));
  const more = ['two', 'three', 'four', 'five'].map((name) =>
    store.create(newDiagnosis(name, { large })),
  );
  for (const [at, each] of more.entries()) {
    const message = expect.stringContaining(
      `default/${['two', 'three', 'four', 'five'][at]}: not stored`,
    );
    await expect(each).rejects.toMatchObject({ reason: 'ServiceUnavailable', message });
  }
  expect(await store.writeError()).toContain('database or disk is full');
  // They shared a transaction, so none of them was stored; a smaller object fits.
  const small = await store.create(newDiagnosis('small'));
  expect(Number(small.metadata.resourceVersion)).toBe(Number(fixture.metadata.resourceVersion) + 1);
  store.close();
  expect((await (await open(path)).list('Diagnosis')).items).toEqual([fixture, small]);
});

test('deletes objects when it is full, also in one transaction with a write that fails', async () => {
  const store = await openSqliteStore(newPath(), { bytesMax: 1_024 * 1024 });
  opened.push(store);
  await store.create(newDiagnosis('one', { large: 'x'.repeat(900_000) }));
  const next = newDiagnosis('two', { large: 'x'.repeat(900_000) });
  const [created, deleted] = await Promise.allSettled([
    store.create(next),
    store.delete({ kind: 'Diagnosis', namespace: 'default', name: 'one' }),
  ]);
  expect(created.status).toBe('rejected');
  expect(deleted.status).toBe('fulfilled');
  expect((await store.list('Diagnosis')).items).toEqual([]);
  expect(await store.create(next)).toMatchObject({ metadata: { name: 'two' } });
  expect(await store.writeError()).toBeUndefined();
});

test('commits concurrent writes together', async () => {
  const store = await open();
  const before = Number((await store.list('Diagnosis')).resourceVersion);
  const order: string[] = [];
  const asked = ['a', 'b', 'c'].map(async (name) => {
    await store.create(newDiagnosis(name));
    order.push(name, `${(await store.list('Diagnosis')).items.length}`);
  });
  await Promise.all(asked);
  // The first one already sees all three: there was one transaction.
  expect(order).toEqual(['a', '3', 'b', '3', 'c', '3']);
  expect(Number((await store.list('Diagnosis')).resourceVersion)).toBe(before + 3);
});

test('does not write an update that changes nothing', async () => {
  const store = await open();
  const created = await store.create(newDiagnosis('one'));
  expect(await store.update(created)).toEqual(created);
  expect(await store.updateStatus(created)).toEqual(created);
  const { resourceVersion } = await store.list('Diagnosis');
  expect(resourceVersion).toBe(created.metadata.resourceVersion);
});

test('ends a watch that is too far behind, or from a version of another store', async () => {
  const store = openMemoryStore();
  const old = await store.create(newDiagnosis('old'));
  for (let count = 0; count < HISTORY_EVENTS_MAX + 1; count += 1_000) {
    const names = Array.from({ length: 1_000 }, (_, at) => `many-${count + at}`);
    await Promise.all(names.map((each) => store.create(newDiagnosis(each))));
  }
  const from = (resourceVersion: string) =>
    firstOf(store.watch('Diagnosis', { ...watchFrom(old), resourceVersion }));
  const expired = { reason: 'Expired' };
  await expect(from(old.metadata.resourceVersion)).rejects.toMatchObject(expired);
  await expect(from('99999999')).rejects.toMatchObject(expired);
  await expect(from('yesterday')).rejects.toMatchObject(expired);
  const next = from((await store.list('Diagnosis')).resourceVersion);
  const object = await store.create(newDiagnosis('new'));
  expect(await next).toEqual({ type: 'ADDED', object });
  store.close();
});

test('sends a bookmark to a watch that skips changes of others, and none without changes', async () => {
  const store = openMemoryStore({ bookmarkMs: 0 });
  const first = await store.create(newDiagnosis('one'));
  const options = { ...watchFrom(first), namespace: 'other' };
  const events = store.watch('Diagnosis', options)[Symbol.asyncIterator]();
  const next = events.next();
  const { metadata } = await store.create(newDiagnosis('two'));
  const { resourceVersion } = metadata;
  expect((await next).value).toEqual({ type: 'BOOKMARK', resourceVersion });
  const after = events.next();
  const object = await store.create(newDiagnosis('three', {}, 'other'));
  expect((await after).value).toEqual({ type: 'ADDED', object });
  store.close();
});

async function firstOf(events: AsyncIterable<StoreEvent>): Promise<StoreEvent | undefined> {
  const { value } = await events[Symbol.asyncIterator]().next();
  return value as StoreEvent | undefined;
}

test('rejects requests when it is closed', async () => {
  const store = await open();
  const fixture = await store.create(newDiagnosis('one'));
  const events = store.watch('Diagnosis', watchFrom(fixture));
  const next = events[Symbol.asyncIterator]().next();
  const late = store.create(newDiagnosis('two'));
  store.close();
  const refused = { reason: 'ServiceUnavailable' };
  await expect(late).rejects.toMatchObject(refused);
  await expect(store.list('Diagnosis')).rejects.toMatchObject(refused);
  expect(await next).toMatchObject({ done: true });
});

// Each round starts a process of its own.
const patient = { timeout: 60_000 };

test('has every confirmed write after its process is killed', patient, async () => {
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

/** A child writes counters as fast as it can, and prints each value that the store confirmed. */
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

function watchFrom({ metadata: { resourceVersion } }: StoredObject): WatchOptions {
  return { resourceVersion, stop: new AbortController().signal };
}
