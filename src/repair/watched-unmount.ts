import { setTimeout as sleep } from 'node:timers/promises';
import { type Mount, type MountTable, parseMountTable } from '../evidence/mount-table.ts';
import { tableText } from '../node/read-to-end.ts';
import { orCode } from '../node/unless-failed.ts';
import { type HeldProcess, whyNotSame } from './held-process.ts';
import { TABLE_READS_MAX, watchMs } from './limits.ts';
import type { Deed } from './node-writer.ts';
import { isPinned, type MountPins, objectionTo, otherMount } from './pinned-mount.ts';

/*
 * No program unmounts one mount by its identity: umount takes a path, and the kernel unmounts what
 * is there by then. A descriptor on the mount does not help, for it makes the mount busy. So the
 * table is read directly before umount is started, while it runs, and when it has ended.
 */

/** Read directly before the act: why not to begin, or that there is nothing left to do. */
export function changeOf(pins: MountPins, held: HeldProcess): Deed | undefined {
  for (let reads = 0, judged = ''; reads < TABLE_READS_MAX; reads += 1) {
    const read = orCode(() => textOf(held));
    const other = read.value === undefined ? `mount table: ${read.code}` : whyNotSame(held);
    const what = 'the kubelet is no longer the process that was identified';
    if (read.value === undefined || other !== undefined) {
      return { state: 'changed', what, why: other ?? '' };
    }
    // The same text again costs no time to judge, and on kernels before 5.8 it is the proof of it.
    if (read.value === judged) return undefined;
    judged = read.value;
    const objection = objectionTo(pins, parseMountTable(judged, originOf(held)));
    if (objection?.state === 'done') return { state: 'did', note: objection.note ?? '' };
    if (objection) return { state: 'changed', what: objection.what, why: objection.why };
  }
  const why = `${originOf(held)} changed during each of ${TABLE_READS_MAX} reads`;
  return { state: 'changed', what: 'the mount table does not come to rest', why };
}

/** Another mount that is seen at the path before the unmount has ended; it is stopped then. */
export async function watchMount(
  pins: MountPins,
  held: HeldProcess,
  ended: Promise<unknown>,
  stop: () => void,
): Promise<Mount | undefined> {
  const isOver = ended.then(() => true);
  while (!(await Promise.race([isOver, sleep(watchMs, false)]))) {
    const table = tableOf(held);
    const other = table && otherMount(pins, table);
    if (!other) continue;
    stop();
    return other;
  }
  return undefined;
}

/** What was really unmounted, by the table as it is now. */
export function unmountDeed(
  pins: MountPins,
  held: HeldProcess,
  said: Deed,
  seen: Mount | undefined,
): Deed {
  const table = tableOf(held);
  if (!table) return said;
  const { origin, mounts } = table;
  if (seen && !mounts.some((mount) => isPinned(mount, seen))) {
    const why = `while umount ran, ${seen.target} was ${mountText(seen)}; ${origin} shows it no more`;
    return { state: 'hit-another', why };
  }
  const pinned = mounts.find((mount) => isPinned(mount, pins));
  if (pinned && said.state === 'did') {
    const why = `umount succeeded, and ${origin} still shows ${table.lineText(pinned)}`;
    return { state: 'hit-another', why };
  }
  if (!seen) return said;
  const why = `${origin} now shows ${table.lineText(otherMount(pins, table) ?? seen)}`;
  return { state: 'changed', what: 'the mount changed since it was diagnosed', why };
}

function mountText({ id, device, root, source }: Mount): string {
  return `mount ${id} of ${root} (${device}, ${source})`;
}

function tableOf(held: HeldProcess): MountTable | undefined {
  const { value } = orCode(() => textOf(held));
  return value === undefined ? undefined : parseMountTable(value, originOf(held));
}

function originOf({ pid }: HeldProcess): string {
  return `/proc/${pid}/mountinfo`;
}

function textOf({ folder }: HeldProcess): string {
  return tableText(`${folder}/mountinfo`);
}
