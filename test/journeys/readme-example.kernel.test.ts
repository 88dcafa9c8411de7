import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lab } from '../rig/lab-traces.ts';
import { EXECUTABLE, runProgram, startProgram } from '../rig/run-kubediag.ts';

const NAME = `readme${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'kubediag-readme-'));
const file = join(folder, 'diagnosis.yaml');
const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const [, manifest = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(readme) ?? [];
/** As a reader does: with a pod of their own. */
const ofPracticePod = manifest
  .replace('namespace: default', 'namespace: practice')
  .replace('name: web-0', 'name: shop-configmap');

beforeAll(async () => {
  writeFileSync(file, manifest);
  await lab('up', NAME, '--runtime', 'stand-in');
});

afterAll(async () => {
  await lab('down', NAME);
  rmSync(folder, { recursive: true });
});

test('the Diagnosis of the README has no problems', async () => {
  expect(await runProgram([EXECUTABLE, 'lint', '-f', file])).toMatchObject({ code: 0 });
});

test('the Diagnosis of the README finds a fault and repairs it', async () => {
  expect(await lab('break', NAME, 'stale-subpath-mount')).toMatchObject({ code: 0 });
  expect(await lab('run', NAME, '--', 'kubediag', 'check')).toMatchObject({ code: 1 });
  const args = ['kubediag', 'run', '-f', '-', '--yes'];
  const run = startProgram([EXECUTABLE, 'lab', 'run', '--name', NAME, '--', ...args]);
  run.child.stdin?.end(ofPracticePod);
  expect(await run.end).toMatchObject({ code: 0 });
  expect(await lab('run', NAME, '--', 'kubediag', 'check')).toMatchObject({ code: 0 });
});
