import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from './sqlite-store.ts';
import { newDiagnosis } from './store-contract.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-damaged-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const keyOf = (name: string) => ({ kind: 'Diagnosis', namespace: 'default', name }) as const;

const DAMAGES = [
  ['cut', 'substr(text, 1, 40)'],
  ['of something else', "replace(text, 'two', 'six')"],
  ['without its uid', "replace(text, 'uid', 'xid')"],
  ['no object', "'7'"],
] as const;

/** A store with three Diagnoses, whose second row a bad disk has changed. */
async function damagedStore(text: string) {
  const path = join(mkdtempSync(join(scratch, 'state-')), 'store.sqlite');
  const before = await openSqliteStore(path);
  const fixture = ['one', 'two', 'six'].map((name) => before.create(newDiagnosis(name)));
  const [one, two] = await Promise.all(fixture);
  before.close();
  const database = new DatabaseSync(path);
  database.exec(`UPDATE objects SET text = ${text} WHERE name = 'two'`);
  database.close();
  if (!one || !two) throw new Error('nothing was made');
  const errors: string[] = [];
  const store = await openSqliteStore(path, { onError: (words) => errors.push(words) });
  onTestFinished(() => store.close());
  return { store, one, two, errors };
}

test.each(DAMAGES)('a row that is %s does not affect the others', async (_, text) => {
  const { store, one, two, errors } = await damagedStore(text);
  const names = async () =>
    (await store.list('Diagnosis')).items.map(({ metadata }) => metadata.name);
  expect(await names()).toEqual(['one', 'six']);
  expect(await names()).toEqual(['one', 'six']);
  // Reported once, by name, with what to do.
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(
    /^Diagnosis default\/two: .*damaged.*delete the object and apply it again$/,
  );
  const damaged = { reason: 'Damaged', message: errors[0] };
  await expect(store.get(keyOf('two'))).rejects.toMatchObject(damaged);
  // In the same commit.
  const written = [
    store.updateStatus({ ...two, status: { phase: 'Running' } }),
    store.updateStatus({ ...one, status: { phase: 'Running' } }),
    store.create(newDiagnosis('four')),
    store.create(newDiagnosis('two')),
  ];
  const settled = await Promise.allSettled(written);
  expect(settled.map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'fulfilled',
    'rejected',
  ]);
  expect(settled[0]).toHaveProperty('reason.reason', 'Damaged');
});

test('a damaged object can be deleted and created again', async () => {
  const { store } = await damagedStore("'{'");
  const { resourceVersion } = await store.list('Diagnosis');
  const { signal: stop } = new AbortController();
  const events = store.watch('Diagnosis', { resourceVersion, stop });
  await store.delete(keyOf('two'));
  const { value } = await events[Symbol.asyncIterator]().next();
  expect(value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'two' } } });
  const fixture = await store.create(newDiagnosis('two'));
  expect(await store.get(keyOf('two'))).toEqual(fixture);
});
