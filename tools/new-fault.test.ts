import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { KINDS, type Kind, newFault } from './new-fault.ts';

const PROJECT = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-new-fault-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function copyOfProject(): string {
  for (const name of ['src', 'lab', 'test', 'tools', 'package.json', 'tsconfig.base.json']) {
    cpSync(join(PROJECT, name), join(scratch, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(scratch, 'node_modules'));
  return scratch;
}

/** The faults of a list, which stand in the order of their directories. */
function expectOrder(index: string): readonly string[] {
  // import { staleSubpathMount } from './stale-subpath-mount/fault.ts';
  const names = [...index.matchAll(/'\.\/([a-z-]+)\/fault\.ts'/g)].map(([, name = '']) => name);
  expect(names).toEqual(names.toSorted((left, right) => (left < right ? -1 : 1)));
  return names;
}

/** Runs the tests of the new fault in the copy: how it ended, and what it said. */
function runTests(project: string, path: string) {
  const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
  const text = [vitest, 'run', '--root', project, path];
  const env = { PATH: process.env.PATH, HOME: project, NO_COLOR: '1' };
  const settings = { cwd: project, env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, text, settings);
  return { status, said: `${stdout}${stderr}` };
}

test('a new fault of each kind compiles, is listed in order, and fails its test until it is written', () => {
  const project = copyOfProject();
  for (const kind of KINDS) newFault(`quiet-${kind}`, kind, project);
  const index = readFileSync(join(project, 'src/node/faults/index.ts'), 'utf8');
  expectOrder(index);
  const [list = ''] = /readonly AnyFault\[\] = \[[^\]]*/.exec(index) ?? [];
  const values = [...list.matchAll(/^ {2}(\w+),$/gm)].map(([, value]) => value);
  const inOrder = [...index.matchAll(/^import \{ (\w+) \}/gm)].map(([, value]) => value);
  expect(values).toEqual(inOrder);
  expect(values).toEqual(expect.arrayContaining(['quietCustom', 'quietSignature']));

  const include = ['src/node/faults/index.ts', 'src/node/faults/quiet-*'];
  const config = { extends: './tsconfig.base.json', include, compilerOptions: { types: ['node'] } };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  execFileSync(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', project], { stdio: 'pipe' });

  const before = runTests(project, 'src/node/faults/quiet-');
  expect(before.status, before.said).toBe(1);
  // The tests say what is missing.
  for (const kind of KINDS) {
    expect(before.said).toContain(`quiet-${kind} on all fixtures > has no TODO left`);
  }
  expect(before.said).toContain("title: 'TODO: what is broken, in one line'");
  expect(before.said).toContain('nobody has written yet how to judge the kubelet');
  expect(before.said).toContain('quiet-custom on active-broken > is judged as the name');

  // The short kinds need only their texts.
  for (const kind of KINDS.filter((each) => each !== 'custom')) {
    const folder = join(project, `src/node/faults/quiet-${kind}`);
    // No golden file is written while something is missing.
    expect(existsSync(join(folder, 'fixtures'))).toBe(false);
    const described = join(project, 'test/faults', `quiet-${kind}.ts`);
    for (const file of [
      ...['fault.ts', 'README.md'].map((name) => join(folder, name)),
      described,
    ]) {
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('TODO', 'written'));
    }
    const after = runTests(project, join('src/node/faults', `quiet-${kind}`));
    expect(after.status, after.said).toBe(0);
    expect(existsSync(join(folder, 'fixtures/golden.json'))).toBe(true);
  }
}, 300_000);

test.each([
  ['journal', 'is not a valid name'],
  ['Quiet-Journal', 'is not a valid name'],
  ['../quiet-journal', 'is not a valid name'],
  ['stale-subpath-mount', 'exists already'],
])('%s is refused: it %s', (name, why) => {
  expect(() => newFault(name, 'custom', PROJECT)).toThrow(why);
});

test.each([
  [['--help'], 0, 'threshold   a number'],
  [[], 64, 'threshold   a number'],
  [['journal'], 64, 'is not a valid name'],
  [['quiet-journal', '--kind', 'other'], 64, '--kind is one of'],
  [['quiet-journal', '--color'], 64, '--color'],
])('the command with %j ends with %i and says why, without a stack', (args, code, text) => {
  const script = join(PROJECT, 'tools/new-fault.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([code, expect.stringContaining(text)]);
  expect(stderr).not.toMatch(/^ +at /m);
});

test('an unknown kind is refused', () => {
  expect(() => newFault('quiet-journal', 'other' as Kind, PROJECT)).toThrow('--kind is one of');
});

test.each(['a-fault', 'zonal-fault'])('%s finds its place at either end of the list', (name) => {
  const project = mkdtempSync(join(scratch, 'list-'));
  cpSync(join(PROJECT, 'src/node/faults/index.ts'), join(project, 'src/node/faults/index.ts'));
  newFault(name, 'threshold', project);
  const index = readFileSync(join(project, 'src/node/faults/index.ts'), 'utf8');
  expect(expectOrder(index)).toContain(name);
});
