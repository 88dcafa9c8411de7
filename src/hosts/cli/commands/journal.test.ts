import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { purposeOf } from '../../../pipeline/diagnosis/purpose.ts';
import { journal } from './journal.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'kubediag-journal-'));
afterAll(() => rmSync(stateDir, { recursive: true }));

const metadata = { uid: 'u-1', namespace: 'default', name: 'web' } as Parameters<
  typeof purposeOf
>[0];

test('an action names its Diagnosis; that of a person has none', async () => {
  const record = (entry: number, purpose?: string) => ({
    entry,
    at: '2026-01-02T03:04:05.678Z',
    event: 'intended',
    boot: 'b1',
    by: { pid: 812, user: 'root' },
    fault: 'stale-subpath-mount',
    finding: '3f9a1c',
    ...(purpose === undefined ? {} : { purpose }),
    action: { kind: 'unmount', id: 216, parent: 22, device: '254:1', root: '/x', target: '/a' },
  });
  // The last as it was written before names were.
  const records = [record(1, purposeOf(metadata, { id: 2 })), record(2), record(3, 'u-2/1')];
  const lines = records.map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(stateDir, 'journal.jsonl'), lines.join(''));
  const terminal = syntheticTerminal();
  const options = { stateDir, hostRoot: '/' };
  expect(await journal({ ...options, output: 'wide' }, terminal)).toBe(0);
  const rows = terminal.said().out.trimEnd().split('\n').slice(1);
  expect(rows.map((row) => row.split(/ {3,}/).slice(-2))).toEqual([
    ['default/web', 'unmount /a'],
    ['<none>', 'unmount /a'],
    ['u-2', 'unmount /a'],
  ]);
  await journal({ ...options, output: 'json' }, terminal);
  expect(JSON.parse(terminal.said().out)).toMatchObject([
    { entry: 1, diagnosis: 'default/web' },
    expect.not.objectContaining({ diagnosis: expect.anything() }),
    { entry: 3, diagnosis: 'u-2' },
  ]);
});
