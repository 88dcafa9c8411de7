import { closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import type { Tried } from '../../lib/state/state-folder.ts';
import { startTimeOf } from '../../lib/std/start-time-of.ts';
import { orCode, tableText } from '../reader/read-file.ts';
import type { ProcessPins } from './node-writer.ts';

/**
 * A process whose mount namespace and root directory we hold by descriptors: they stay the right
 * ones when the process ends and another gets its pid.
 */
export interface HeldProcess {
  readonly pid: number;
  /** Where its files are: "/proc/812". */
  readonly folder: string;
  readonly startTime: number;
  /** Descriptors. */
  readonly namespace: number;
  readonly root: number;
  /** Its paths are ours: the same mount namespace, seen from the same root directory. */
  readonly isOurView: boolean;
}

export function holdProcess(folder: string, pins: ProcessPins): Tried<HeldProcess> {
  const { pid } = pins;
  const opened: number[] = [];
  const open = (path: string, flags: number) => {
    const file = openSync(path, flags);
    opened.push(file);
    return file;
  };
  const held = orCode((): HeldProcess => {
    const namespace = open(`${folder}/ns/mnt`, constants.O_RDONLY);
    const root = open(`${folder}/root/`, constants.O_RDONLY | constants.O_DIRECTORY);
    const name = readlinkSync(`/proc/self/fd/${namespace}`);
    const [theirs, ours] = [fstatSync(root), statSync('/')];
    const isSameRoot = theirs.dev === ours.dev && theirs.ino === ours.ino;
    const isOurView = isSameRoot && name === readlinkSync('/proc/self/ns/mnt');
    // Read last: who has this start time now had the pid while the two were opened.
    const startTime = Number(pins.startTime ?? startTimeOf(tableText(`${folder}/stat`)));
    return { pid, folder, startTime, namespace, root, isOurView };
  });
  const why =
    held.value === undefined
      ? `the mount namespace of process ${pid} cannot be opened: ${held.code}`
      : whyNotSame(held.value);
  if (held.value && why === undefined) return { ok: true, value: held.value };
  for (const file of opened) closeSync(file);
  return { ok: false, why: why ?? '' };
}

/** Why the process with this pid is not the one that is held. */
export function whyNotSame({ pid, folder, startTime }: HeldProcess): string | undefined {
  const stat = orCode(() => tableText(`${folder}/stat`));
  if (stat.value === undefined) return `process ${pid} has ended (${stat.code})`;
  const now = startTimeOf(stat.value);
  if (now === startTime) return undefined;
  return `process ${pid} is another one now: it started at tick ${now}, the kubelet at ${startTime}`;
}

export function letGo({ namespace, root }: HeldProcess): void {
  closeSync(namespace);
  closeSync(root);
}

/** Its root directory, for a program that gets the two descriptors as its numbers 3 and 4. */
export const THEIR_ROOT = '/proc/self/fd/4';

/** A path of the held process, as such a program sees it. */
export function pathIn({ isOurView }: HeldProcess, path: string): string {
  return isOurView ? path : `${THEIR_ROOT}${path}`;
}
