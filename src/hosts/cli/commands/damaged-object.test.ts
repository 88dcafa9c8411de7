import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { syntheticAgent, syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { openSqliteStore } from '../../../pipeline/store/sqlite-store.ts';
import { newDiagnosis } from '../../../pipeline/store/store-contract.ts';
import { deleteObjects } from './delete.ts';
import { get } from './get.ts';

test('an agent stands with an object that is damaged, names it, and lets it be deleted', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-damaged-'));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const path = join(scratch, 'state/store.sqlite');
  const store = await openSqliteStore(path);
  for (const name of ['good', 'bad']) await store.create(newDiagnosis(name, { suspend: true }));
  store.close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE objects SET text = substr(text, 1, 50) WHERE name = 'bad'");
  database.close();

  const { stateDir, errors } = await syntheticAgent(scratch);
  const terminal = syntheticTerminal();
  const options = { stateDir, hostRoot: '/', namespace: 'default' };
  const shown = async (...names: readonly string[]) => {
    const code = await get(['diag', ...names], { ...options, output: 'name' }, terminal);
    return { code, ...terminal.said() };
  };
  expect((await shown()).out).toBe('diagnosis.diagnosis.kubediag.org/good\n');
  expect(errors.join()).toContain('Diagnosis default/bad: its stored data is damaged');
  expect(await shown('bad')).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /InternalError.*Diagnosis\s+default\/bad:\s+its\s+stored\s+data\s+is\s+damaged/s,
    ),
  });
  expect(await deleteObjects(['diag', 'bad'], options, terminal)).toBe(0);
  terminal.said();
  expect((await shown('bad')).err).toContain('not found');
});
