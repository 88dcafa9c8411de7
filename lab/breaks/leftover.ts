import { appendFileSync, mkdirSync } from 'node:fs';
import { lstat, rename as renameFile } from 'node:fs/promises';
import { klogLine } from '../kubelet/log-line.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { practicePod } from '../practice-pod.ts';
import { makeOlder, volumePath } from './orphan.ts';
import { runPod } from './pod-life.ts';

/** The folder of a plugin that still renames a volume before it deletes it. */
export const PLUGIN = 'transwarp.io~tosdisk';
export const VOLUME = 'pvc-f39e86b9-019b-11e8-b2c9-0cc47ae2b22c';

/** As Go's helper for temporary folders chooses them: nine digits, any of them. */
export function leftoverName(volume: string, index: number): string {
  return `${volume}.deleting~${100_000_000 + index * 7_919}`;
}

/** What a teardown that failed some hours ago has left. */
export function leave(path: string): void {
  mkdirSync(path, { recursive: true });
  makeOlder(path);
}

/** Why a rename failed, as the kernel calls it: "EBUSY"; undefined when it was done. */
export type Rename = (from: string, to: string) => Promise<string | undefined>;

/**
 * The teardown of such a plugin, tried again and again: it makes a new folder, renames the volume to it,
 * and fails, so that the folder is left.
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

/** As the kernel does it: it replaces an empty folder, and refuses while the volume is mounted. */
export const rename: Rename = async (from, to) => {
  try {
    await renameFile(from, to);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

/** As a program in Go does it since Go 1.8: it looks first, and refuses a folder that is there. */
export const renameAsGo: Rename = async (from, to) => {
  const [volume, target] = [await lstat(from), await lstat(to).catch(() => undefined)];
  const isThere = target?.isDirectory() && (target.dev !== volume.dev || target.ino !== volume.ino);
  return isThere ? 'EEXIST' : rename(from, to);
};

/** What the plugin says of its last try, as a kubelet writes it down: ours has no such plugin. */
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

/** One for each fault: a node may have several, and what a holder holds it took when it began. */
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
 * A container that shows the node's folders, such as an exporter of metrics, with mounts of its own:
 * what is mounted below the kubelet when it starts it holds, however often the node unmounts it.
 */
async function runHolder(node: PracticeNode, fault: keyof typeof HOLDERS): Promise<void> {
  const pod = practicePod({
    ...HOLDERS[fault],
    volumes: [{ name: 'kubelet', hostPath: { path: PLACES.kubeletRoot } }],
    mounts: { app: [{ name: 'kubelet', mountPath: '/host/kubelet' }] },
  });
  await runPod(node, pod);
}

/** Something is mounted on a folder, the exporter takes hold of it, and the node unmounts it again. */
export async function letItBeHeld(
  node: PracticeNode,
  fault: keyof typeof HOLDERS,
  path: string,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  await node.run('mount', '-t', 'tmpfs', 'practice', path);
  await runHolder(node, fault);
  await meanwhile();
  await node.run('umount', path);
}
