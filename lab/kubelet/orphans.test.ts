import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeletVersion } from '../settings.ts';
import { BEHAVIOURS } from './behaviour.ts';
import { cleanUpOrphans } from './orphans.ts';
import { WORDINGS } from './wording.ts';

const UID = '612f2e76-3ce1-4d0e-9b7a-0d6d5a9c1e02';
let root = '';
let pod = '';
let output: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kubediag-orphans-'));
  pod = join(root, 'pods', UID);
  mkdirSync(join(pod, 'containers/app'), { recursive: true });
  output = [];
});
afterEach(() => rmSync(root, { recursive: true }));

async function cleanUp(version: KubeletVersion, known: readonly string[] = []) {
  return cleanUpOrphans(new Set(known), {
    kubeletRoot: root,
    behaviour: BEHAVIOURS[version],
    wording: WORDINGS[version],
    say: ({ text }) => output.push(text),
  });
}

function makeVolume(rest: string): string {
  const path = join(pod, 'volumes', rest);
  mkdirSync(path, { recursive: true });
  return path;
}

test.each(['v1.18.8', 'v1.36.3'] as const)(
  '%s does not touch a pod that it knows',
  async (version) => {
    makeVolume('kubernetes.io~empty-dir/a.deleting~1');
    expect(await cleanUp(version, [UID])).toEqual({ orphans: 0, failed: 0 });
    expect(output).toEqual([]);
    expect(existsSync(join(pod, 'volumes/kubernetes.io~empty-dir/a.deleting~1'))).toBe(true);
  },
);

test.each(['v1.18.8', 'v1.36.3'] as const)(
  '%s removes an orphan without volumes',
  async (version) => {
    expect(await cleanUp(version)).toEqual({ orphans: 1, failed: 0 });
    expect(existsSync(pod)).toBe(false);
  },
);

test('v1.18.8 complains of a directory that a volume left, turn by turn, and leaves it', async () => {
  const left = makeVolume('transwarp.io~tosdisk/pvc-1.deleting~096627888');
  for (const semaphore of [1, 2]) {
    expect(await cleanUp('v1.18.8')).toEqual({ orphans: 1, failed: 1 });
    expect(output).toHaveLength(semaphore);
  }
  expect(output[0]).toContain(
    `orphaned pod "${UID}" found, but volume paths are still present on disk`,
  );
  expect(existsSync(left)).toBe(true);
});

test('v1.18.8 logs the leftover of a subPath', async () => {
  mkdirSync(join(pod, 'volume-subpaths/a/app'), { recursive: true });
  await cleanUp('v1.18.8');
  expect(output[0]).toContain('but volume subpaths are still present on disk');
});

test('v1.36.3 removes empty directories of volumes and places of subPaths, and then the pod', async () => {
  const left = makeVolume('kubernetes.io~empty-dir/a.deleting~1');
  mkdirSync(join(pod, 'volume-subpaths/a/app'), { recursive: true });
  writeFileSync(join(pod, 'volume-subpaths/a/app/0'), '');
  expect(await cleanUp('v1.36.3')).toEqual({ orphans: 1, failed: 0 });
  expect(output).toContain(`"Cleaned up orphaned volume from pod" podUID="${UID}" path="${left}"`);
  expect(existsSync(pod)).toBe(false);
});

test('v1.36.3 does not remove a volume directory with content, and logs it', async () => {
  const left = makeVolume('kubernetes.io~empty-dir/a');
  writeFileSync(join(left, 'precious'), 'x');
  expect(await cleanUp('v1.36.3')).toEqual({ orphans: 1, failed: 1 });
  expect(output.join()).toContain(`failed to rmdir() volume at path ${left}: directory not empty`);
  expect(existsSync(join(left, 'precious'))).toBe(true);
});

test('v1.36.3 fails on the metadata file that a CSI volume leaves', async () => {
  const volume = makeVolume('kubernetes.io~csi/data');
  makeVolume('kubernetes.io~csi/data/mount');
  writeFileSync(join(volume, 'vol_data.json'), '{}');
  for (const _ of [1, 2]) await cleanUp('v1.36.3');
  expect(existsSync(join(volume, 'mount'))).toBe(false);
  expect(existsSync(join(volume, 'vol_data.json'))).toBe(true);
  expect(output.at(-1)).toContain(
    'found, but error occurred when trying to remove the volumes dir: not a directory',
  );
});
