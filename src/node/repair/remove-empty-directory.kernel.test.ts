import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../../test/rig/leftovers-in-namespace.ts');
const [ONE, TWO, THREE] = ['a.deleting~1', 'a.deleting~2', 'a.deleting~3'];

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-leftovers-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** The scenario is the first process of its own namespaces: with it ends all that it made. */
function inNamespaces(scenario: string): unknown {
  const apart = '--mount --pid --fork --kill-child --mount-proc --propagation private'.split(' ');
  const program = [process.execPath, '--no-warnings', PROGRAM, scenario, scratch];
  // All on one processor: each of them numbers namespaces for itself, and the kernel lets one with a
  // lower number than the namespace it lies in be held by no mount.
  const text = ['--cpu-list', '0', 'unshare', ...apart, ...program];
  const limits = { timeout: 40_000, killSignal: 'SIGKILL' } as const;
  const { stdout, stderr } = spawnSync('taskset', text, { encoding: 'utf8', ...limits });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('what is empty, old and free goes', () => {
  expect(inNamespaces('untouched')).toEqual({
    outcome: { state: 'done', note: '3 leftover directories are gone' },
    left: [],
  });
});

test('the kernel takes a mount of another namespace away together with its directory', () => {
  expect(inNamespaces('what rmdir does to it')).toEqual({ isStillMounted: false });
});

test('so a directory that is mounted on in another namespace stays, and so does its mount', () => {
  expect(inNamespaces('mounted in another namespace')).toMatchObject({
    outcome: {
      state: 'failed',
      why: expect.stringMatching(/^1 stays, for something is mounted on it by sleep \(pid \d+\)/),
    },
    left: [TWO],
    isStillMounted: true,
  });
});

test.each([
  ['mounted for the kubelet', /something is mounted on it/],
  ['filled', /it is not empty/],
  ['filled after the last check', /it is not empty/],
  ['recreated', /it was recreated since it was diagnosed/],
  ['recreated after the last check', /it was recreated since it was diagnosed/],
  ['too young', /it is too young/],
  ['used', /process \d+ uses it \(cwd\)/],
])('one that is %s stays, with the reason, and the others go', (scenario, why) => {
  const result = inNamespaces(scenario);
  expect(result).toMatchObject({ outcome: { state: 'failed' }, left: [TWO] });
  expect(result).toMatchObject({ outcome: { why: expect.stringMatching(why) } });
});

test('a link in the way to them is not followed, also when it is made at the last moment', () => {
  expect(inNamespaces('a link in the way')).toMatchObject({
    outcome: { state: 'refused', what: 'the path of the leftovers leads elsewhere' },
    left: [ONE, TWO, THREE],
  });
  rmSync(scratch, { recursive: true });
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-leftovers-'));
  expect(inNamespaces('a link in the path after the last check')).toMatchObject({
    outcome: { state: 'failed', why: expect.stringContaining('the remover broke off') },
    elsewhere: [ONE, TWO, THREE],
  });
});

test.each(['the volume itself', 'a name that leads away'])('%s is no leftover', (scenario) => {
  expect(inNamespaces(scenario)).toMatchObject({
    outcome: { state: 'refused', what: expect.stringContaining('is no leftover of a volume') },
  });
});

test('what is gone already is done', () => {
  expect(inNamespaces('gone')).toMatchObject({
    outcome: { state: 'done', note: 'nothing to do: they are gone already' },
  });
});

test.each(['a namespace without a process', 'a namespace that an open file holds'])(
  'a mount namespace that nobody can look into stands against it: %s',
  (scenario) => {
    expect(inNamespaces(scenario)).toMatchObject({
      outcome: {
        state: 'refused',
        what: 'not every mount namespace can be seen',
        why: expect.stringContaining('no process lives in it'),
      },
      left: [ONE, TWO, THREE],
    });
  },
);
