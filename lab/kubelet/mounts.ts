import { existsSync, lstatSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram, systemProgram } from '../../src/lib/process/run.ts';
import { mountPoints } from '../mount-tables.ts';
import type { Behaviour } from './behaviour.ts';
import { MOUNT_MS, MOUNT_OUTPUT_BYTES_MAX } from './limits.ts';

export async function mountInMemory(target: string): Promise<void> {
  await run('mount', '-t', 'tmpfs', 'tmpfs', target);
}

/** Neither forced nor lazy, as in the kubelet. */
async function unmount(target: string): Promise<void> {
  await run('umount', '--no-canonicalize', target);
}

/** All mounts at a directory or below it, innermost first. */
export async function unmountBelow(folder: string): Promise<void> {
  const below = mountPoints().filter((path) => path === folder || path.startsWith(`${folder}/`));
  for (const path of below.toReversed()) await unmount(path);
}

interface SubpathPlace {
  readonly volumeFolder: string;
  readonly subPath: string;
  /** pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX: the container mounts this path. */
  readonly target: string;
  /** Whether a missing subPath is created, because the pod may write the volume. */
  readonly isCreated: boolean;
}

/** Mounts a subPath of a volume for a container, before each start. */
export async function prepareSubpath(place: SubpathPlace, { subpaths }: Behaviour): Promise<void> {
  const { volumeFolder, subPath, target, isCreated } = place;
  const name = join(volumeFolder, subPath);
  if (isCreated) mkdirSync(name, { recursive: true });
  if (!existsSync(name)) throw new Error(`lstat ${name}: no such file or directory`);
  // Links are resolved first: the source of the mount is the file in the directory named after a time.
  const source = realpathSync(name);
  if (mountPoints().includes(target)) {
    if (subpaths === 'reused' || isSame(source, target)) return;
    await unmount(target);
  }
  if (statSync(source).isDirectory()) mkdirSync(target, { recursive: true });
  else {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, '', { flag: 'a' });
  }
  await run('mount', '--bind', source, target);
}

/** Whether a prepared mount of a container has been unmounted. */
export function hasLostSubpath(mounts: readonly { readonly hostPath: string }[]): boolean {
  const points = mountPoints();
  const subpaths = mounts.filter(({ hostPath }) => hostPath.includes('/volume-subpaths/'));
  return subpaths.some(({ hostPath }) => !points.includes(hostPath));
}

function isSame(source: string, target: string): boolean {
  const [one, other] = [lstatSync(source), lstatSync(target)];
  return one.dev === other.dev && one.ino === other.ino;
}

async function run(name: string, ...args: readonly string[]): Promise<void> {
  const program = systemProgram(name);
  if (program === undefined) throw new Error(`there is no ${name} on this machine`);
  const ended = await runProgram({
    program,
    arguments: args,
    deadlineMs: MOUNT_MS,
    outputBytesMax: MOUNT_OUTPUT_BYTES_MAX,
  });
  if (ended.ended === 'exit' && ended.code === 0) return;
  const why = ended.ended === 'not-started' ? ended.why : ended.stderr.trim() || ended.ended;
  throw new Error(`${name} ${args.join(' ')}: ${why}`);
}
