import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newFault } from './new-fault.ts';

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

/** The faults of a list, which stand in the order of their folders. */
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

test('a new fault compiles, is listed in order, and has a test that fails until it is written', () => {
  const project = copyOfProject();
  newFault('quiet-journal', project);
  const index = readFileSync(join(project, 'src/node/faults/index.ts'), 'utf8');
  expectOrder(index);
  const [list = ''] = /readonly AnyFault\[\] = \[[^\]]*/.exec(index) ?? [];
  const values = [...list.matchAll(/^ {2}(\w+),$/gm)].map(([, value]) => value);
  const inOrder = [...index.matchAll(/^import \{ (\w+) \}/gm)].map(([, value]) => value);
  expect(values).toEqual(inOrder);
  expect(values).toContain('quietJournal');

  const include = ['src/node/faults/index.ts', 'src/node/faults/quiet-journal'];
  const config = { extends: './tsconfig.base.json', include, compilerOptions: { types: ['node'] } };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  execFileSync(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', project], { stdio: 'pipe' });

  const before = runTests(project, 'src/node/faults/quiet-journal/fault.test.ts');
  expect(before.said).toContain('on active-broken > is judged as the name of the fixture says');
  expect(before.status, before.said).toBe(1);

  // Written: here with the judgement and the nodes of another fault.
  const folder = join(project, 'src/node/faults/quiet-journal');
  writeFileSync(join(folder, 'fault.test.ts'), WRITTEN_TEST);
  rmSync(join(folder, 'fixtures'), { recursive: true });
  writeFileSync(
    join(folder, 'fault.ts'),
    "import { staleSubpathMount } from '../stale-subpath-mount/fault.ts';\n" +
      "export const quietJournal = { ...staleSubpathMount, id: 'quiet-journal' };\n",
  );
  const after = runTests(project, 'src/node/faults/quiet-journal/fault.test.ts');
  expect(after.status, after.said).toBe(0);
}, 120_000);

const WRITTEN_TEST = `import { describeFault } from '../../../../test/describe-fault.ts';
import { nodes } from '../../../../test/faults/stale-subpath-mount.ts';
import { nodeNamed } from '../../../../test/synthetic-node.ts';
import { quietJournal } from './fault.ts';

describeFault(quietJournal, {
  nodes: {
    'active-broken': nodeNamed('broken-configmap', nodes()),
    healthy: nodeNamed('healthy', nodes()),
  },
  optionalReads: [{ reads: /\\/pods$/, why: 'no mount is stale' }],
});
`;

test.each([
  ['journal', 'is no name'],
  ['Quiet-Journal', 'is no name'],
  ['../quiet-journal', 'is no name'],
  ['stale-subpath-mount', 'is there already'],
])('%s is refused: it %s', (name, why) => {
  expect(() => newFault(name, PROJECT)).toThrow(why);
});

test.each(['a-fault', 'zonal-fault'])('%s finds its place at either end of the list', (name) => {
  const project = mkdtempSync(join(scratch, 'list-'));
  cpSync(join(PROJECT, 'src/node/faults/index.ts'), join(project, 'src/node/faults/index.ts'));
  newFault(name, project);
  const index = readFileSync(join(project, 'src/node/faults/index.ts'), 'utf8');
  expect(expectOrder(index)).toContain(name);
});
