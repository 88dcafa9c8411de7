import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { openSqliteStore } from './sqlite-store.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-migrate-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const FIXTURE = readFileSync(join(import.meta.dirname, 'fixtures/version-1.sql'), 'utf8');

/** A file of version 1 with more copies of its Diagnosis "repaired". */
function olderFile(copies = 0): string {
  const path = join(mkdtempSync(join(scratch, 'state-')), 'store.sqlite');
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${FIXTURE}`);
  const copy = database.prepare(
    `INSERT INTO objects SELECT kind, namespace, ?, replace(replace(text, '"repaired"', ?), '"root ', ?)
     FROM objects WHERE name = 'repaired'`,
  );
  for (let at = 0; at < copies; at += 1) {
    copy.run(`copy-${at}`, `"copy-${at}"`, `"${'x'.repeat(20_000)} root `);
  }
  database.close();
  return path;
}

test('migrates a store of version 1, with every object, version and status', async () => {
  const path = olderFile();
  const store = await openSqliteStore(path);
  const { items, resourceVersion } = await store.list('Diagnosis');
  const sets = await store.list('OperationSet');
  const created = await store.create({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'OperationSet',
    metadata: { name: 'new' },
    spec: {},
  });
  store.close();
  const description = 'unmount /var/lib/kubelet/pods/0b1d/volume-subpaths/settings/web/0';
  const expected = FIXTURE.split('\n')
    .filter((line) => line.startsWith("INSERT INTO objects VALUES ('Diagnosis'"))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1)) as object);
  const renamed = JSON.stringify(expected).replaceAll(
    `"deed":"${description}"`,
    `"description":"${description}"`,
  );
  expect(items).toEqual(JSON.parse(renamed));
  // A parameter of the user keeps its name.
  expect(items[1]?.spec.parameters).toEqual({ deed: 'mine' });
  expect(sets.items).toMatchObject([
    { metadata: { name: 'stale-mounts' }, status: { ready: true } },
  ]);
  expect([resourceVersion, created.metadata.resourceVersion]).toEqual(['6', '7']);
  // The second start finds nothing to do.
  const again = await openSqliteStore(path);
  expect((await again.list('Diagnosis')).items).toEqual(items);
  again.close();
});

test('leaves a damaged object of version 1 as it is, and migrates the others', async () => {
  const path = olderFile();
  const database = new DatabaseSync(path);
  const damaged = '{"status":{"actions":[{"deed":"a"}';
  const odd = '{"status":{"actions":[null,"deed",{"deed":"a"},{"why":"b"}]}}';
  const update = database.prepare('UPDATE objects SET text = ? WHERE name = ?');
  update.run(damaged, 'repaired');
  database.prepare("INSERT INTO objects VALUES ('Diagnosis', 'default', 'odd', ?)").run(odd);
  database.close();
  const errors: string[] = [];
  const store = await openSqliteStore(path, { onError: (message) => errors.push(message) });
  const { items } = await store.list('Diagnosis');
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['waits']);
  expect(errors).toHaveLength(2);
  store.close();
  expect(rowsIn(path).texts).toContain(damaged);
  expect(rowsIn(path).texts.join()).toContain('{"description":"a"},{"message":"b"}');
});

test('has the old form after a crash in the middle, and the next start migrates it', async () => {
  const path = olderFile(600);
  const before = rowsIn(path);
  const script = join(import.meta.dirname, '../../../test/rig/killed-migration.ts');
  // SQLite has written several megabytes by then.
  const child = spawnSync(process.execPath, [script, path, '500'], { encoding: 'utf8' });
  expect([child.signal, child.stderr]).toEqual(['SIGKILL', '']);
  expect(rowsIn(path)).toEqual(before);
  expect(before.version).toBe(1);
  const store = await openSqliteStore(path);
  expect((await store.list('Diagnosis')).items).toHaveLength(602);
  store.close();
  const after = rowsIn(path);
  expect(after.version).toBe(2);
  expect(after.texts.filter((text) => text.includes('"deed":"unmount'))).toEqual([]);
});

test('migrates a full store: the new names are longer, and the limit applies afterwards', async () => {
  const path = olderFile();
  const database = new DatabaseSync(path);
  // Short objects with many actions, so that the new names need more pages.
  const actions = Array.from({ length: 200 }, () => ({ deed: 'a', why: 'b' }));
  const text = JSON.stringify({ status: { actions } });
  const add = database.prepare("INSERT INTO objects VALUES ('Diagnosis', 'default', ?, ?)");
  for (let at = 0; at < 50; at += 1) add.run(`full-${at}`, text);
  database.close();
  const bytesMax = statSync(path).size;
  const store = await openSqliteStore(path, { bytesMax, onError: () => {} });
  store.close();
  expect(statSync(path).size).toBeGreaterThan(bytesMax);
  expect(rowsIn(path).version).toBe(2);
});

function rowsIn(path: string): { readonly version: number; readonly texts: readonly string[] } {
  const database = new DatabaseSync(path);
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  const texts = database.prepare('SELECT text FROM objects').all();
  database.close();
  return { version, texts: texts.map(({ text }) => String(text)) };
}
