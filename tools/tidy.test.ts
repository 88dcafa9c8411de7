import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { type LockFile, missingPlatforms } from './complete-lock.ts';
import { folderOf, MODULES } from './import-table.ts';
import { filesBelow, isGenerated, isTestCode, TYPESCRIPT } from './source-files.ts';
import {
  developersPaths,
  idleCatchEntries,
  looseVersions,
  registriesNamed,
  tidyRules,
} from './tidy-rules.ts';

const SOURCES_MIN = 10;
const MODULE_README_LINES_MAX = 15;
/** The driver of a recovery, its journal and locks, its dry run, and one handler for each kind of action. */
const REPAIR_LINES_MAX = 3400;
/** A fault that is only reported may do without this one. */
const OF_RECOVERY = 'What recovery does';
const HEADINGS = ['Symptom', 'Cause', 'How we know', OF_RECOVERY, 'Manual steps'];

const sources = filesBelow(['src', 'lab', 'test', 'tools'], TYPESCRIPT).filter(
  ({ path }) => !isGenerated(path) && !path.includes('/fixtures/'),
);
const modules = Object.keys(MODULES).filter(
  (module) => filesBelow([folderOf(module)], TYPESCRIPT).length > 0,
);
const faultFolders = foldersIn('src/node/faults').filter((folder) => folder !== 'generated');

function foldersIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
}

test('the tidy test sees the source', () => {
  expect(sources.filter(({ path }) => !isTestCode(path)).length).toBeGreaterThan(SOURCES_MIN);
  expect(modules).toContain('model');
});

// Some parse every file: seconds on a busy machine.
test.each(Object.entries(tidyRules))('%s', { timeout: 60_000 }, (_, rule) => {
  expect(sources.flatMap(rule)).toEqual([]);
});

test('every place that may catch is there, and catches', () => {
  expect(idleCatchEntries(sources)).toEqual([]);
});

/** Reported first, for without them nothing else on a node works. */
const FIRST_FAULTS = ['kubelet-not-running', 'runtime-not-responding'];

test('the fault list is the fault directories, in order', async () => {
  const index = resolve('src/node/faults/index.ts');
  const listed = existsSync(index)
    ? ((await import(pathToFileURL(index).href)) as { faults: readonly { id: string }[] }).faults
    : [];
  const others = faultFolders.filter((folder) => !FIRST_FAULTS.includes(folder));
  expect(listed.map(({ id }) => id)).toEqual([...FIRST_FAULTS, ...others]);
});

test('every fault directory is whole', () => {
  const parts = ['fault.ts', 'fault.test.ts', 'README.md', 'fixtures/golden.json'];
  const missing = faultFolders
    .flatMap((folder) => parts.map((part) => join('src/node/faults', folder, part)))
    .filter((path) => !existsSync(path));
  expect(missing).toEqual([]);
});

test('every page of a fault has the same headings', () => {
  for (const { path, text } of filesBelow(
    ['src/node/faults'],
    /^src\/node\/faults\/[^/]+\/README[.]md$/,
  )) {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const isRepaired = existsSync(path.replace('README.md', 'recover.ts'));
    const expected = HEADINGS.filter(
      (heading) => heading !== OF_RECOVERY || isRepaired || headings.includes(heading),
    );
    expect(headings, path).toEqual(expected);
  }
});

test.each(modules)('the module %s has a short README.md', (module) => {
  const readme = `${folderOf(module)}/README.md`;
  expect(existsSync(readme), readme).toBe(true);
  const lines = readFileSync(readme, 'utf8').trimEnd().split('\n');
  expect(lines.length, readme).toBeLessThanOrEqual(MODULE_README_LINES_MAX);
});

test('module repair stays small enough to be reviewed in one sitting', () => {
  const lines = sources
    .filter(({ path }) => path.startsWith('src/node/repair/') && !isTestCode(path))
    .reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0);
  expect(lines).toBeLessThanOrEqual(REPAIR_LINES_MAX);
});

test('every dependency has an exact version', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly [list: string]: Readonly<Record<string, string>>;
  };
  expect(looseVersions({ ...dependencies, ...devDependencies })).toEqual([]);
});

test('the lock file fits every registry', () => {
  expect(registriesNamed(readFileSync('package-lock.json', 'utf8'))).toEqual([]);
});

test('the lock file is whole, or npm ci refuses it (node tools/complete-lock.ts)', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  expect(Object.keys(missingPlatforms(lock))).toEqual([]);
});

test('no text speaks of a developer’s machine', () => {
  // Fixtures may hold bytes that are no text; then nothing in them matches.
  const folders = ['src', 'lab', 'test', 'tools', 'docs', '.ci'];
  const texts = [...filesBelow(folders, /./), ...rootTexts()];
  expect(texts.flatMap(developersPaths)).toEqual([]);
});

function rootTexts() {
  // In a worktree .git is a file, with the path of its repository.
  const others = ['package-lock.json', '.git'];
  return readdirSync('.', { withFileTypes: true })
    .filter((entry) => entry.isFile() && !others.includes(entry.name))
    .map(({ name }) => ({ path: name, text: readFileSync(name, 'utf8') }));
}
