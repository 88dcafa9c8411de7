import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calledAs } from './own-program.ts';

test('a suggested command begins with the name or path of this program', () => {
  const bin = mkdtempSync(join(tmpdir(), 'kubediag-bin-'));
  const file = '/opt/build/dist/kubediag';
  expect(calledAs(file, { path: `relative:${bin}`, folder: '/opt/build' })).toBe('dist/kubediag');
  expect(calledAs(file, { path: bin, folder: '/opt/build/dist' })).toBe('./kubediag');
  expect(calledAs(file, { path: bin, folder: '/home' })).toBe(file);
  writeFileSync(join(bin, 'kubediag'), '');
  chmodSync(join(bin, 'kubediag'), 0o755);
  expect(calledAs(file, { path: bin, folder: '/home' })).toBe('kubediag');
  rmSync(bin, { recursive: true });
});
