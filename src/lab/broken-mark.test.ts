import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { markBroken } from './broken-mark.ts';

test('a node is broken once, until somebody takes the mark away', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-mark-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const mark = join(folder, 'broken');
  const alike = { kind: 'look-alike', fault: 'dead-volume-mount', variant: 'slow' } as const;
  markBroken(alike, mark);
  expect(() => markBroken({ ...alike, kind: 'fault' }, mark)).toThrow(
    'it was given what only resembles dead-volume-mount (slow) already, and was not healed since',
  );
  rmSync(mark);
  markBroken({ ...alike, kind: 'fault' }, mark);
  expect(() => markBroken(alike, mark)).toThrow('it was given dead-volume-mount (slow) already');
});
