import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { saveBundle } from './save-bundle.ts';

const bundle = {
  recording: { clock: new Date(0), answers: new Map<string, never>() },
  madeBy: 'test',
  tookMs: 1,
  settings: {},
};

test('the newest hundred are kept, and nothing but our own is removed', async () => {
  const state = mkdtempSync(join(tmpdir(), 'kubediag-state-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  const folder = join(state, 'bundles');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, '00000000-notes.txt'), '');
  for (let day = 1; day <= 120; day += 1) {
    const stamp = new Date(Date.UTC(2026, 0, day)).toISOString().replace(/[-:]|\.\d+Z$/g, '');
    writeFileSync(join(folder, `${stamp}-abc123.tgz`), '');
  }
  const saved = await saveBundle(bundle, state, '20270101T000000-3f9a1c.tgz');
  expect(saved).toEqual({ path: join(folder, '20270101T000000-3f9a1c.tgz') });
  const names = readdirSync(folder).toSorted();
  expect(names).toHaveLength(101);
  expect(names[0]).toBe('00000000-notes.txt');
  expect(names[1]).toBe('20260122T000000-abc123.tgz');
  expect(names.at(-1)).toBe('20270101T000000-3f9a1c.tgz');
});
