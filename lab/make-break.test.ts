import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { appliedBreaks, markBroken } from './make-break.ts';

test('a node has its list of breaks until the mark file is deleted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-mark-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const mark = join(folder, 'broken');
  const alike = { kind: 'look-alike', fault: 'dead-volume-mount', variant: 'slow' } as const;
  const fault = { kind: 'fault', fault: 'stale-subpath-mount', variant: 'secret-active' } as const;
  const all = [alike, fault];
  expect(appliedBreaks(all, mark)).toEqual([]);
  markBroken(fault, mark);
  expect(appliedBreaks(all, mark)).toEqual([fault]);
  markBroken(alike, mark);
  expect(appliedBreaks(all, mark)).toEqual([fault, alike]);
  rmSync(mark);
  expect(appliedBreaks(all, mark)).toEqual([]);
});
