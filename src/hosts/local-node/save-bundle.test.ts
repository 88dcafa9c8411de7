import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import type { CheckResult } from '../../node/checkup/run-check.ts';
import { VERSION } from './product-version.ts';
import { bundleOf, checkSaving, saveBundle } from './save-bundle.ts';

const bundle = {
  recording: { clock: new Date(0), answers: new Map<string, never>() },
  madeBy: 'test',
  tookMs: 1,
  settings: {},
};

function scratchFolder(): string {
  const state = mkdtempSync(join(tmpdir(), 'kubediag-state-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  return state;
}

const NAME = '20270101T000000-3f9a1c.tgz';

test('a file at the path of the bundle directory is reported', async () => {
  const state = scratchFolder();
  writeFileSync(join(state, 'bundles'), '');
  const failure = expect.stringContaining('not a directory');
  const todo = 'choose another --state-dir';
  expect(await saveBundle(bundle, state, NAME)).toEqual({ failure, todo });
  expect(await checkSaving(bundle, state)).toEqual({ failure, todo });
});

test('a directory with a name of ours is not removed, and does not prevent saving', async () => {
  const state = scratchFolder();
  const folder = join(state, 'bundles');
  for (let day = 10; day < 30; day += 1) {
    for (let hour = 10; hour < 16; hour += 1) {
      const name = `202601${day}T${hour}0000-abc123.tgz`;
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
  }
  expect(await saveBundle(bundle, state, NAME)).toEqual({ path: join(folder, NAME) });
  expect(await checkSaving(bundle, state)).toBeUndefined();
  expect(readdirSync(folder)).toHaveLength(121);
});

test('the newest hundred bundles are retained, and only bundles are removed', async () => {
  const state = scratchFolder();
  const folder = join(state, 'bundles');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, '00000000-notes.txt'), '');
  for (let day = 1; day <= 120; day += 1) {
    const stamp = new Date(Date.UTC(2026, 0, day)).toISOString().replace(/[-:]|\.\d+Z$/g, '');
    writeFileSync(join(folder, `${stamp}-abc123.tgz`), '');
  }
  const saved = await saveBundle(bundle, state, NAME);
  expect(saved).toEqual({ path: join(folder, NAME) });
  const names = readdirSync(folder).toSorted();
  expect(names).toHaveLength(101);
  expect(names[0]).toBe('00000000-notes.txt');
  expect(names[1]).toBe('20260122T000000-abc123.tgz');
  expect(names.at(-1)).toBe(NAME);
});

test('the bundle of a check has its settings, and no secret', () => {
  const { answers } = new NodeMaker().file('/proc/812/cmdline', 'kubelet\0--token=hunter2\0');
  const checked = {
    recording: { clock: new Date(0), answers },
    report: { node: { tookMs: 7 } },
    settings: { kubeletRoot: '/data/kubelet' },
  } as unknown as CheckResult;
  const { recording, ...manifest } = bundleOf(checked);
  expect(manifest).toEqual({ madeBy: VERSION, tookMs: 7, settings: checked.settings });
  expect([...recording.answers.keys()]).toEqual([...answers.keys()]);
  expect(JSON.stringify([...recording.answers])).not.toContain('hunter2');
});
