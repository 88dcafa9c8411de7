import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { madeBreaks, markBroken } from './broken-mark.ts';

test('how a node was broken is remembered until somebody takes the mark away', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-mark-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const mark = join(folder, 'broken');
  const alike = { kind: 'look-alike', fault: 'dead-volume-mount', variant: 'slow' } as const;
  const fault = { kind: 'fault', fault: 'stale-subpath-mount', variant: 'secret-active' } as const;
  const all = [alike, fault];
  expect(madeBreaks(all, mark)).toEqual([]);
  markBroken(fault, mark);
  expect(madeBreaks(all, mark)).toEqual([fault]);
  markBroken(alike, mark);
  expect(madeBreaks(all, mark)).toEqual([fault, alike]);
  rmSync(mark);
  expect(madeBreaks(all, mark)).toEqual([]);
});
