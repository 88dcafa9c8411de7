import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LockFile, withoutEngines } from './complete-lock.ts';

const PROJECT = join(import.meta.dirname, '..');
const NODE_24 = join(PROJECT, 'node_modules/node-bin/bin');

test('npm ci prints no warning on the Node of this machine', () => {
  expect(printedByNpmCi({ path: pathOfMachine() })).toBe('');
});

test('the lock file is that of tools/complete-lock.ts', () => {
  expect(lockFile()).toEqual(withoutEngines(lockFile()));
});

test('every package takes the Node that it runs on', () => {
  const lock = lockFile();
  const entries = Object.entries(lock.packages).map(([path, locked]) => [
    path,
    { ...locked, ...enginesOf(path) },
  ]);
  const packages = Object.fromEntries(entries) as LockFile['packages'];
  const path = `${NODE_24}${delimiter}${pathOfMachine()}`;
  expect(printedByNpmCi({ path, lock: { ...lock, packages } })).toBe('');
  // An empty answer means something: npm does compare.
  const name = 'node_modules/commander';
  const tooNew = { ...packages, [name]: { ...packages[name], engines: { node: '>=99' } } };
  const printed = printedByNpmCi({ path, lock: { ...lock, packages: tooNew } });
  expect(printed).toContain("package: 'commander@");
});

function lockFile(): LockFile {
  return JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as LockFile;
}

/** As its own package.json says; a package of another platform is not installed. */
function enginesOf(path: string): Pick<LockFile['packages'][string], 'engines'> {
  const file = join(PROJECT, path, 'package.json');
  if (!existsSync(file)) return {};
  const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines?: object };
  return engines === undefined || Array.isArray(engines) ? {} : { engines: { ...engines } };
}

/** What npm writes to its error output when it would install. It fetches and installs nothing. */
function printedByNpmCi({ path, lock }: { readonly path: string; readonly lock?: LockFile }) {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-npm-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(PROJECT, name), join(folder, name));
  if (lock) writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--offline'], {
    cwd: folder,
    // Without the settings of the user who runs the tests.
    env: { PATH: path, HOME: folder, npm_config_globalconfig: '/dev/null' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ci ended with ${status}: ${stderr}`);
  return stderr;
}

/** Without what `npm` and a developer put in front of it. */
function pathOfMachine(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}
