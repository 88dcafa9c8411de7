import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  EXECUTABLE,
  oneLine,
  type Running,
  runProgram,
  startProgram,
} from '../rig/run-kubediag.ts';

const NAME = 'diagnosis.diagnosis.kubediag.org/web';
const SCRIPT = 'operation.diagnosis.kubediag.org/script';

const DIAGNOSIS = `apiVersion: diagnosis.kubediag.org/v1
kind: Diagnosis
metadata:
  name: web
spec:
  operationSet: stale-subpath-mount
  nodeName: my-node
  recovery: Approval
`;
const MISTYPED = DIAGNOSIS.replace('recovery', 'Recovery');

const OPERATION = `apiVersion: diagnosis.kubediag.org/v1
kind: Operation
metadata:
  name: script
spec:
  processor:
    scriptRunner:
      script: "true"
`;

const folder = mkdtempSync(join(tmpdir(), 'kubediag-strict-'));
const stateDir = join(folder, 'state');
let agent: Running;

beforeAll(async () => {
  const args = ['--listen', '127.0.0.1:0', '--node-name', 'my-node', '--state-dir', stateDir];
  agent = startProgram([EXECUTABLE, 'serve', ...args]);
  await agent.hasSaid('intake-token beside it');
});

afterAll(async () => {
  agent.child.kill('SIGTERM');
  await agent.end;
  rmSync(folder, { recursive: true });
});

function written(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const kubediag = (command: string, ...args: readonly string[]) =>
  runProgram([EXECUTABLE, command, '--state-dir', stateDir, ...args]);
const names = async () => (await kubediag('get', 'diag,operations', '-A', '-o', 'name')).stdout;

test('a mistyped field is refused with its line and the field that was meant', async () => {
  const file = written('web.yaml', MISTYPED);
  const output = `${file}:8: spec.Recovery: unknown field: did you mean "recovery"?\n`;
  for (const more of [[], ['--validate'], ['--validate=true'], ['--dry-run=server']]) {
    const { code, stdout, stderr } = await kubediag('apply', '-f', file, ...more);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toBe(`Error from server (BadRequest): ${output}`);
  }
  const client = await kubediag('apply', '-f', file, '--dry-run');
  expect(client).toMatchObject({ code: 3, stdout: '', stderr: `error: ${output}` });
  expect(await names()).not.toContain('web');
});

test('a mistyped field is dropped, with a warning or without one, only where that is asked for', async () => {
  const file = written('web.yaml', MISTYPED);
  const created = `${NAME} created (server dry run)\n`;
  const warned = await kubediag('apply', '-f', file, '--dry-run=server', '--validate=warn');
  expect(warned).toMatchObject({ code: 0, stdout: created });
  expect(warned.stderr).toContain(`Warning: ${file}:8: spec.Recovery: unknown field, dropped`);
  for (const mode of ['ignore', 'false']) {
    const args = ['-f', file, '--dry-run=server', `--validate=${mode}`];
    expect(await kubediag('apply', ...args)).toMatchObject({ code: 0, stdout: created });
  }
  expect(await kubediag('apply', '-f', file, '--validate=maybe')).toMatchObject({ code: 64 });
});

test('a graph with a mistyped field is not run, unless that is asked for', async () => {
  const args = [EXECUTABLE, 'run', '--state-dir', stateDir, '--node-name', 'my-node'];
  const file = written('web.yaml', MISTYPED);
  const refused = await runProgram([...args, '-f', file, '--yes']);
  expect(refused).toMatchObject({ code: 64, stdout: '' });
  expect(refused.stderr).toContain(`${file}:8: problem: spec.Recovery: unknown field\n`);
  expect(refused.stderr).toContain('nothing was run\n');
  const asked = ['-f', file, '--dry-run', '--validate=ignore', '-o', 'yaml'];
  const dropped = await runProgram([...args, ...asked]);
  expect(dropped.stdout).toContain('operationSet: stale-subpath-mount\n');
  expect(dropped.stdout).not.toContain('Recovery');
  expect(await runProgram([EXECUTABLE, 'lint', '-f', file])).toMatchObject({ code: 1 });
});

test('a key that is set twice is refused', async () => {
  const file = written('twice.yaml', `${DIAGNOSIS}  recovery: Automatic\n`);
  const { code, stderr } = await kubediag('apply', '-f', file, '--validate=ignore');
  expect(code).toBe(64);
  expect(stderr).toContain(`${file}:9: key "recovery" already set in map: correct it\n`);
  expect(await names()).not.toContain('web');
});

test('manifests of every KubeDiag are accepted as they are', async () => {
  const { code, stdout, stderr } = await kubediag(
    'apply',
    ...['-f', 'test/manifests', '--dry-run=server'],
  );
  expect(stderr).not.toContain('Error');
  expect(stdout.match(/ created [(]server dry run[)]\n/g)?.length).toBeGreaterThan(20);
  expect(code).toBe(0);
});

test('a dry run says what would be done, and stores and starts nothing', async () => {
  const file = written('operation.yaml', OPERATION);
  const dry = async (mode: string) => (await kubediag('apply', '-f', file, mode)).stdout;
  expect(await dry('--dry-run')).toBe(`${SCRIPT} created (dry run)\n`);
  expect(await dry('--dry-run=client')).toBe(`${SCRIPT} created (dry run)\n`);
  expect(await dry('--dry-run=server')).toBe(`${SCRIPT} created (server dry run)\n`);
  expect(await names()).toBe('');
  expect(await dry('--dry-run=none')).toBe(`${SCRIPT} created\n`);
  expect(await dry('--dry-run=server')).toBe(`${SCRIPT} unchanged (server dry run)\n`);
  written('operation.yaml', OPERATION.replace('true', 'false'));
  expect(await dry('--dry-run')).toBe(`${SCRIPT} configured (dry run)\n`);
  expect(await dry('--dry-run=server')).toBe(`${SCRIPT} configured (server dry run)\n`);
  const { stdout } = await kubediag('get', 'operation', 'script', '-o', 'yaml');
  expect(stdout).toContain('script: "true"');
  expect(await dry('--dry-run=maybe')).toBe('');
});

test('a directory is read with its subfolders when that is asked for, and several files may be given', async () => {
  const top = written('tree/a.yaml', OPERATION);
  const below = written('tree/deep/b.yaml', OPERATION.replace('name: script', 'name: below'));
  const applied = async (...args: readonly string[]) => {
    const { stdout } = await kubediag('apply', '--dry-run', ...args);
    return Array.from(stdout.matchAll(/\/(\w+) /g), ([, name = '']) => name).toSorted();
  };
  const tree = join(folder, 'tree');
  expect(await applied('-f', tree)).toEqual(['script']);
  for (const args of [
    ['-R', '-f', tree],
    ['-f', tree, '--recursive'],
    ['-f', top, '-f', below],
    ['-f', `${top},${below}`],
  ]) {
    expect(await applied(...args), args.join(' ')).toEqual(['below', 'script']);
  }
});

test('lint and apply report what has no effect, with the intended field', async () => {
  const file = written(
    'effect.yaml',
    `${OPERATION.replace('name: script', 'name: mistyped').replace(/scriptRunner:.*/s, 'path: /processor/podListColector\n')}---
${OPERATION}  storage:
    hostPath: {path: /x}
  dependences: [a]
---
apiVersion: diagnosis.kubediag.org/v1
kind: CommonEvent
metadata: {name: event}
spec: {summary: a, source: b, severity: c}
`,
  );
  const linted = await runProgram([EXECUTABLE, 'lint', '-f', file]);
  expect(linted.code).toBe(1);
  const applied = await kubediag('apply', '-f', file, '--dry-run=server');
  expect(applied.code).toBe(3);
  expect(oneLine(linted.stdout)).toContain('did you mean "/processor/podListCollector"?');
  expect(applied.stderr).toMatch(
    new RegExp(
      `^Error from server [(]Invalid[)]: ${file}:7: .*did you mean "/processor/podListCollector"`,
    ),
  );
  for (const place of [':17: spec.storage', ':19: spec.dependences', ':22: kind']) {
    expect(applied.stderr).toContain(`Warning: ${file}${place}: no effect: `);
    const [, line, field] = place.split(':');
    expect(linted.stdout).toContain(`${file}:${line}: note:${field}: no effect: `);
  }
  expect(applied.stdout).not.toContain('mistyped');
});

test.each([
  ['kind: Diagnosis', 'kind: diagnosis', ':2: kind: .*did you mean "Diagnosis"'],
  ['kubediag.org', 'kubediag.io', ':1: apiVersion: .*write "diagnosis.kubediag.org/v1"'],
])('a mistyped head of a manifest is an error: %s as %s', async (right, wrong, output) => {
  const file = written('head.yaml', `${DIAGNOSIS.replace(right, wrong)}---\n${OPERATION}`);
  for (const command of ['apply', 'delete']) {
    const { code, stdout, stderr } = await kubediag(command, '-f', file);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(new RegExp(`${file}${output}`));
  }
  expect(await runProgram([EXECUTABLE, 'lint', '-f', file])).toMatchObject({ code: 1 });
});
