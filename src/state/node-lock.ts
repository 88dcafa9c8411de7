import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Trouble } from '../model/action.ts';
import { startTimeOf } from '../std/start-time-of.ts';
import { LOCK_BYTES_MAX, LOCK_TRIES_MAX } from './limits.ts';
import {
  emptyIfWritable,
  fieldsIn,
  linkUnlessTaken,
  prepareFolder,
  textIfThere,
} from './state-folder.ts';
import type { Actor } from './this-process.ts';

/** The right to change this node: one process at a time has it, and acts one deed at a time. */
export interface NodeLock {
  /** Set while a deed is performed under it. */
  isActing: boolean;
  readonly release: () => void;
}

export type LockAnswer =
  | { readonly isTaken: true; readonly lock: NodeLock }
  | ({ readonly isTaken: false } & Trouble);

/** How the one who has the lock is spoken of. */
export interface HolderWords {
  readonly who: string;
  readonly does: string;
  readonly todo: string;
}

const RECOVERY: HolderWords = {
  who: 'another recovery',
  does: 'is at work on this node',
  todo: 'wait until it is done',
};

// lock.17
const GENERATION = /^lock\.(\d+)$/;

/**
 * Each holder makes the file after its predecessor's: "lock.17" when "lock.16" is free, which it is
 * when it is empty or its process is dead. So two that see the same dead holder want the same new
 * name, and a name is given once. The newest is never deleted, hence whoever took an old number out
 * of an old view sees a newer one, and steps back.
 */
export async function takeNodeLock(
  folder: string,
  self: Actor,
  words: HolderWords = RECOVERY,
): Promise<LockAnswer> {
  await prepareFolder(folder);
  const mine = join(folder, `taker-${self.pid}-${self.pidNamespace.replace(/\D/g, '')}`);
  for (let tries = 0; tries < LOCK_TRIES_MAX; tries += 1) {
    const newest = generations(folder).at(-1) ?? 0;
    const holder = liveHolder(folder, newest, self);
    if (holder) return { isTaken: false, ...troubleOf(holder, words) };
    const path = join(folder, `lock.${newest + 1}`);
    // Whole before it has its name, so that nobody ever reads half a holder.
    rmSync(mine, { force: true });
    writeFileSync(mine, JSON.stringify({ ...self, since: new Date() }), {
      mode: 0o600,
      flag: 'wx',
    });
    const isLinked = linkUnlessTaken(mine, path);
    rmSync(mine, { force: true });
    if (!isLinked) continue;
    if (generations(folder).at(-1) === newest + 1) return taken(folder, newest + 1);
    rmSync(path, { force: true });
  }
  return {
    isTaken: false,
    what: 'too many recoveries want to work on this node at once',
    why: `the lock in ${folder} changed its holder ${LOCK_TRIES_MAX} times while we asked for it`,
    todo: 'try again when they are done',
  };
}

/** Who has the lock now, as a refusal; undefined when it could be taken. Changes nothing. */
export function heldNodeLock(folder: string, self: Actor): Trouble | undefined {
  if (!existsSync(folder)) return undefined;
  const holder = liveHolder(folder, generations(folder).at(-1) ?? 0, self);
  if (!holder) return undefined;
  return troubleOf(holder, RECOVERY);
}

function generations(folder: string): readonly number[] {
  return readdirSync(folder)
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((left, right) => left - right);
}

interface Holder {
  readonly pid: number;
  readonly since: string;
  readonly path: string;
  readonly isSeen: boolean;
}

/** Who has it, if anyone: not whoever released it, died, or lost the text with the power. */
function liveHolder(folder: string, generation: number, self: Actor): Holder | undefined {
  const path = join(folder, `lock.${generation}`);
  const fields = fieldsIn(textIfThere(path, LOCK_BYTES_MAX) ?? '');
  const { pid, startTime, boot, pidNamespace } = fields;
  if (typeof pid !== 'number' || boot !== self.boot) return undefined;
  const since = String(fields.since).replace('T', ' ').slice(0, 19);
  // One that we cannot see is believed.
  if (pidNamespace !== self.pidNamespace) return { pid, since, path, isSeen: false };
  const isUs = pid === self.pid && startTime === self.startTime;
  const stat = textIfThere(`/proc/${pid}/stat`, LOCK_BYTES_MAX) ?? '';
  // 812 (kubediag) Z 1 812: dead, and only waits for its parent to notice.
  const isAlive = startTimeOf(stat) === startTime && !/\) [ZX] /.test(stat);
  return (isUs ? heldHere.has(path) : isAlive) ? { pid, since, path, isSeen: true } : undefined;
}

function troubleOf(
  { pid, since, path, isSeen }: Holder,
  { who, does, todo }: HolderWords,
): Trouble {
  return {
    what: `${who} (pid ${pid}, since ${since} UTC) ${does}`,
    why: `${path} names it, and ${isSeen ? 'it is alive' : 'it runs in a container we cannot see'}`,
    todo: isSeen ? todo : `${todo}; if it is surely gone, empty ${path}`,
  };
}

/** A disk that is read-only by now keeps the text of a lock that we gave back; we know better. */
const heldHere = new Set<string>();

function taken(folder: string, generation: number): LockAnswer {
  for (const older of generations(folder)) {
    if (older < generation) rmSync(join(folder, `lock.${older}`), { force: true });
  }
  const path = join(folder, `lock.${generation}`);
  heldHere.add(path);
  const release = () => {
    heldHere.delete(path);
    emptyIfWritable(path); // Not deleted: the newest number must stay.
  };
  return { isTaken: true, lock: { isActing: false, release } };
}
