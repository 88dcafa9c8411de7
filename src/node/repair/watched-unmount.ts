import { setTimeout as sleep } from 'node:timers/promises';
import { type Mount, type MountTable, parseMountTable } from '../evidence/mounts/mount-table.ts';
import { attempt } from '../model/evidence.ts';
import { orCode, tableText } from '../reader/read-file.ts';
import { type HeldProcess, whyNotSame } from './held-process.ts';
import { TABLE_READS_MAX, watchMs } from './limits.ts';
import type { MountPins, WriteResult } from './node-writer.ts';
import { isPinned, objectionTo, otherMount } from './pinned-mount.ts';

/*
 * No program unmounts one mount by its identity: umount takes a path, and the kernel unmounts what
 * is there by then. A descriptor on the mount does not help, for it makes the mount busy. So the
 * table is read directly before umount is started, while it runs, and when it has ended.
 */

/** Read directly before the act: why not to begin, or that there is nothing left to do. */
export async function changeOf(
  pins: MountPins,
  held: HeldProcess,
): Promise<WriteResult | undefined> {
  let judged: string | undefined;
  for (let reads = 0; reads < TABLE_READS_MAX; reads += 1) {
    const { value: text, code } = textOf(held);
    const why = text === undefined ? `${originOf(held)}: ${code}` : whyNotSame(held);
    if (text === undefined || why !== undefined) {
      const what = 'the kubelet is no longer the process that was identified';
      return { state: 'changed', what, why: why ?? '' };
    }
    // The same text again costs no time to judge, and before Linux 5.8 one read proves nothing.
    if (text === judged) return undefined;
    const table = await parsed(text, held);
    const objection = table && objectionTo(pins, table);
    if (objection?.state === 'done') return { state: 'did', note: objection.note ?? '' };
    if (objection) return { state: 'changed', what: objection.what, why: objection.why };
    judged = table && text;
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
    const table = await tableOf(held);
    const other = table && otherMount(pins, table);
    if (!other) continue;
    stop();
    return other;
  }
  return undefined;
}

/** What was really unmounted, by the table as it is now. */
export async function unmountResult(
  pins: MountPins,
  held: HeldProcess,
  said: WriteResult,
  seen: Mount | undefined,
): Promise<WriteResult> {
  const table = await tableOf(held);
  if (!table || said.state === 'unending') return said;
  const { mounts } = table;
  const { file } = table.origin;
  if (seen && !mounts.some((mount) => isPinned(mount, seen))) {
    const why = `while umount ran, ${seen.target} was ${mountText(seen)}; ${file} shows it no more`;
    return { state: 'hit-another', why };
  }
  const pinned = mounts.find((mount) => isPinned(mount, pins));
  if (pinned && said.state === 'did') {
    const why = `umount succeeded, and ${file} still shows ${table.lineText(pinned)}`;
    return { state: 'hit-another', why };
  }
  if (!seen) return said;
  const now = `${file} now shows ${table.lineText(otherMount(pins, table) ?? seen)}`;
  if (pinned) {
    return { state: 'changed', what: 'the mount changed since it was diagnosed', why: now };
  }
  // A kubelet that mounts again at once can be seen before umount is seen to have ended. Code that took
  // the pinned mount away, it is gone, and what came after it is untouched.
  return {
    state: 'did',
    note: `another mount came to the path meanwhile, and was left alone: ${now}`,
  };
}

function mountText({ id, device, root, source }: Mount): string {
  return `mount ${id} of ${root} (${device}, ${source})`;
}

/** Undefined when the process has ended, or the table was torn: it changed while it was read. */
async function tableOf(held: HeldProcess): Promise<MountTable | undefined> {
  const { value: text } = textOf(held);
  return text === undefined ? undefined : parsed(text, held);
}

async function parsed(text: string, held: HeldProcess): Promise<MountTable | undefined> {
  const table = await attempt((async () => parseMountTable(text, originOf(held)))());
  return table.known ? table.value : undefined;
}

function textOf({ folder }: HeldProcess) {
  return orCode(() => tableText(`${folder}/mountinfo`));
}

function originOf({ pid }: HeldProcess): string {
  return `/proc/${pid}/mountinfo`;
}
