import { lstat, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bytewiseSorted } from '../../src/lib/std/bytewise.ts';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { mountPoints } from '../mount-tables.ts';
import type { Behaviour, KubeletContext } from './behaviour.ts';
import { WORDS } from './remove-logs.ts';
import { cleaned } from './wording.ts';

type Housekeeper = Omit<KubeletContext, 'runtime'>;

export interface CleanedUp {
  /** Deleted pods that still have a directory. */
  readonly orphans: number;
  /** The number of them that could not be removed. */
  readonly failed: number;
}

/**
 * Cleans up after deleted pods. File operations run in threads, so that the HTTP server of the
 * kubelet still answers if a mount hangs; but the sync loop waits for them, and hangs.
 */
export async function cleanUpOrphans(
  known: ReadonlySet<string>,
  housekeeper: Housekeeper,
): Promise<CleanedUp> {
  const { kubeletRoot, behaviour, wording, say } = housekeeper;
  const uids = (await namesIn(join(kubeletRoot, 'pods'))).filter((uid) => !known.has(uid));
  const errors: string[] = [];
  let failed = 0;
  for (const uid of uids) {
    const folder = join(kubeletRoot, 'pods', uid);
    const left = (await isMounted(uid, folder, housekeeper))
      ? undefined
      : behaviour.cleansLeftovers
        ? await removeLeftovers(uid, folder, housekeeper)
        : await findLeftovers(uid, folder);
    if (left === undefined || left.length > 0) failed += 1;
    if (left) errors.push(...left);
    if (left?.length === 0) errors.push(...(await removeFolder(uid, folder)));
  }
  if (errors.length > 0) say(wording.orphansLeft(errors));
  return { orphans: uids.length, failed };
}

/** Whether a volume is still mounted or cannot be checked: if so, the pod is not touched. */
async function isMounted(
  uid: string,
  folder: string,
  { behaviour, wording, say }: Housekeeper,
): Promise<boolean> {
  try {
    const mounted = new Set(mountPoints());
    for (const path of await volumePaths(folder, behaviour)) {
      if (behaviour.mountCheck === 'table' ? mounted.has(path) : await isOtherDevice(path))
        return true;
    }
    return false;
  } catch (error) {
    say(wording.orphanNotSeen(uid, goArguments(error)));
    return true;
  }
}

/** The mount check of kubelets before 1.30: it hangs if the server is dead. */
async function isOtherDevice(path: string): Promise<boolean> {
  const [volume, parent] = [await stat(path), await lstat(dirname(path))];
  return volume.dev !== parent.dev;
}

async function volumePaths(
  folder: string,
  { looksIntoCsi }: Pick<Behaviour, 'looksIntoCsi'>,
): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const plugin of await namesIn(join(folder, 'volumes'))) {
    for (const name of await namesIn(join(folder, 'volumes', plugin))) {
      const path = join(folder, 'volumes', plugin, name);
      if (plugin !== 'kubernetes.io~csi' || !looksIntoCsi) paths.push(path);
      else if (await exists(join(path, 'mount'))) paths.push(join(path, 'mount'));
    }
  }
  return paths;
}

/** Kubelets before 1.20.10 remove no volume directory, and log a leftover one again and again. */
async function findLeftovers(uid: string, folder: string): Promise<readonly string[]> {
  const found = `orphaned pod "${uid}" found, but`;
  if ((await volumePaths(folder, { looksIntoCsi: false })).length > 0) {
    return [`${found} volume paths are still present on disk`];
  }
  const hasSubpaths = await exists(join(folder, 'volume-subpaths'));
  return hasSubpaths ? [`${found} volume subpaths are still present on disk`] : [];
}

/** Removes empty directories: of volumes, of subPaths, then their parents. */
async function removeLeftovers(
  uid: string,
  folder: string,
  { behaviour, say }: Housekeeper,
): Promise<readonly string[]> {
  const found = `orphaned pod "${uid}" found, but`;
  const errors: string[] = [];
  for (const path of await volumePaths(folder, behaviour)) {
    const failure = await failureOf(rmdir(path));
    if (failure === undefined) say(cleaned('volume from pod', uid, path));
    else errors.push(`${found} failed to rmdir() volume at path ${path}: ${failure}`);
  }
  for (const path of await subpathsIn(join(folder, 'volume-subpaths'))) {
    const failure = (await failureOf(unlink(path))) && (await failureOf(rmdir(path)));
    if (failure === undefined) say(cleaned('volume subpath from pod', uid, path));
    else
      errors.push(`${found} failed to remove subpath at path ${path}: remove ${path}: ${failure}`);
  }
  const volumes = join(folder, 'volumes');
  const failure = await removeFolders(volumes);
  if (failure === undefined) say(cleaned('pod volumes dir', uid, volumes));
  else {
    errors.push(`${found} error occurred when trying to remove the volumes dir: ${failure}`);
  }
  return errors;
}

async function subpathsIn(folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const volume of await namesIn(folder)) {
    for (const container of await namesIn(join(folder, volume))) {
      const place = join(folder, volume, container);
      paths.push(...(await namesIn(place)).map((name) => join(place, name)));
    }
  }
  return paths;
}

/** Removes nested empty directories; returns the first error. */
async function removeFolders(folder: string): Promise<string | undefined> {
  const failure = await failureOf(rmdir(folder));
  if (failure !== WORDS.ENOTEMPTY) return failure === WORDS.ENOENT ? undefined : failure;
  let first: string | undefined;
  for (const name of await namesIn(folder)) {
    const inner = await removeFolders(join(folder, name));
    first ??= inner;
  }
  return first ?? failureOf(rmdir(folder));
}

/** Removes the rest, unless something is mounted there. */
async function removeFolder(uid: string, folder: string): Promise<readonly string[]> {
  const mounted = mountPoints().find((path) => path === folder || path.startsWith(`${folder}/`));
  if (mounted === undefined) {
    await rm(folder, { recursive: true, force: true });
    return [];
  }
  const why = `cannot delete directory ${mounted}: it is a mount point`;
  return [`orphaned pod "${uid}" found, but error occurred when trying to remove it: ${why}`];
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await unlessMissing(readdir(folder));
  return bytewiseSorted(names ?? []);
}

/** Any error but ENOENT means that the path exists, such as a mount without a server. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}

async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function failureOf(action: Promise<void>): Promise<string | undefined> {
  try {
    await action;
    return undefined;
  } catch (error) {
    return WORDS[codeOf(error)] ?? messageOf(error);
  }
}

/** stat /var/lib/kubelet/pods/.../data: transport endpoint is not connected */
function goArguments(error: unknown): string {
  const { syscall = '', path = '' } = error as NodeJS.ErrnoException;
  const text = WORDS[codeOf(error)];
  return text === undefined ? messageOf(error) : `${syscall} ${path}: ${text}`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
