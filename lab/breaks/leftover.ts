import { appendFileSync, mkdirSync } from 'node:fs';
import { lstat, rename as renameFile } from 'node:fs/promises';
import { klogLine } from '../kubelet/wording.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { practicePod } from '../practice-pod.ts';
import { makeOlder, volumePath } from './orphan.ts';
import { runPod } from './pod-life.ts';

/** The directory of a plugin that still renames a volume before it deletes it. */
export const PLUGIN = 'transwarp.io~tosdisk';
export const VOLUME = 'pvc-f39e86b9-019b-11e8-b2c9-0cc47ae2b22c';

/** Nine random digits, as os.MkdirTemp of Go adds them. */
export function leftoverName(volume: string, index: number): string {
  return `${volume}.deleting~${100_000_000 + index * 7_919}`;
}

/** The leftover of a teardown that failed some hours ago. */
export function leave(path: string): void {
  mkdirSync(path, { recursive: true });
  makeOlder(path);
}

/** The error code of a rename: "EBUSY"; undefined if it succeeded. */
export type Rename = (from: string, to: string) => Promise<string | undefined>;

/**
 * The repeated teardown of such a plugin: it creates a directory, fails to rename the volume to it,
 * and leaves it behind.
 */
export async function tearDown(volume: string, tries: number, rename: Rename): Promise<void> {
  for (let index = 0; index < tries; index += 1) {
    const target = leftoverName(volume, index);
    mkdirSync(target);
    const failure = await rename(volume, target);
    if (failure === undefined) throw new Error(`${volume} was renamed, and should not have been`);
    makeOlder(target);
  }
}

/** rename(2): it replaces an empty directory, and fails while the volume is mounted. */
export const rename: Rename = async (from, to) => {
  try {
    await renameFile(from, to);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

/** os.Rename since Go 1.8: it checks first, and returns an error for an existing directory. */
export const renameAsGo: Rename = async (from, to) => {
  const [volume, target] = [await lstat(from), await lstat(to).catch(() => undefined)];
  const isThere = target?.isDirectory() && (target.dev !== volume.dev || target.ino !== volume.ino);
  return isThere ? 'EEXIST' : rename(from, to);
};

/** Logs the error of the last attempt as a kubelet would: the stand-in has no such plugin. */
export function logTeardown(
  { settings }: PracticeNode,
  podUid: string,
  why: 'file exists' | 'device or resource busy',
): void {
  if (settings.kubelet.kind === 'real') return;
  const volume = volumePath(podUid, `${PLUGIN}/${VOLUME}`);
  const unique = `flexvolume-transwarp.io/tosdisk/${podUid}-${VOLUME}`;
  const error =
    `UnmountVolume.TearDown failed for volume "${VOLUME}" (UniqueName: "${unique}") pod "${podUid}" ` +
    `(UID: "${podUid}") : rename ${volume} ${leftoverName(volume, 0)}: ${why}`;
  const text =
    `Operation for "{volumeName:${unique} podName:${podUid} nodeName:}" failed. No retries permitted ` +
    `until ${new Date().toISOString()} (durationBeforeRetry 2m2s). Error: ${JSON.stringify(error)}`;
  const line = { level: 'E', place: 'nestedpendingoperations.go:301', text } as const;
  appendFileSync(PLACES.kubeletLog, `${klogLine(line, new Date(), process.pid)}\n`);
}

/** One holder per fault, because a holder has only the mounts that existed when it started. */
const HOLDERS = {
  'leftover-volume-directory': {
    name: 'exporter',
    uid: 'c0a10000-0000-4000-8000-000000000499',
  },
  'orphaned-volume-metadata': {
    name: 'collector',
    uid: 'c0a10000-0000-4000-8000-000000000599',
  },
} as const;

/**
 * Mounts a filesystem, starts a container with the node's directories, such as a metrics exporter,
 * and unmounts the filesystem on the node. The container has its own mount namespace, so it still
 * holds the mount.
 */
export async function letItBeHeld(
  node: PracticeNode,
  fault: keyof typeof HOLDERS,
  path: string,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  const pod = practicePod({
    ...HOLDERS[fault],
    volumes: [{ name: 'kubelet', hostPath: { path: PLACES.kubeletRoot } }],
    mounts: { app: [{ name: 'kubelet', mountPath: '/host/kubelet' }] },
  });
  await node.run('mount', '-t', 'tmpfs', 'practice', path);
  await runPod(node, pod);
  await meanwhile();
  await node.run('umount', path);
}
