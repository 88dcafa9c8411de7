import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Explanation } from '../std/explanation.ts';
import { startTimeOf } from '../std/start-time-of.ts';
import { isKernelLockHeld, takeKernelLock } from './kernel-lock.ts';
import { LOCK_BYTES_MAX } from './limits.ts';
import { emptyIfWritable, fieldsIn, prepareFolder, textIfThere } from './state-folder.ts';
import type { Actor } from './this-process.ts';

/** The lock for changes of this node: one process at a time, with one action at a time. */
export interface NodeLock {
  /** True while an action is performed under this lock. */
  isActing: boolean;
  readonly release: () => void;
}

export type LockAnswer =
  | { readonly isTaken: true; readonly lock: NodeLock }
  | ({ readonly isTaken: false } & Explanation);

/** The texts about the holder of the lock. */
export interface LockHolderText {
  readonly who: string;
  readonly does: string;
  readonly todo: string;
}

const RECOVERY: LockHolderText = {
  who: 'another recovery',
  does: 'is at work on this node',
  todo: 'wait until it is done',
};

/**
 * The lock ends with its holder, also in another PID namespace. The file `holder` names the holder
 * only for messages: it may be out of date.
 */
export async function takeNodeLock(
  folder: string,
  self: Actor,
  text: LockHolderText = RECOVERY,
): Promise<LockAnswer> {
  await prepareFolder(folder);
  const holder = join(folder, 'holder');
  const releaseKernel = await takeKernelLock(folder);
  if (!releaseKernel)
    return { isTaken: false, ...explanationOf(folder, holderIn(holder), self, text) };
  const earlier = earlierHolder(folder, self);
  if (earlier) {
    releaseKernel();
    return { isTaken: false, ...explanationOf(earlier.path, earlier, self, text) };
  }
  for (const file of earlierFiles(folder)) rmSync(join(folder, file), { force: true });
  const lock = lockOf(releaseKernel, holder);
  let isWritten = false;
  try {
    writeFileSync(holder, JSON.stringify({ ...self, since: new Date() }), { mode: 0o600 });
    isWritten = true;
  } finally {
    if (!isWritten) lock.release();
  }
  return { isTaken: true, lock };
}

/** A refusal that names the holder of the lock; undefined if the lock is free. Changes nothing. */
export async function heldNodeLock(folder: string, self: Actor): Promise<Explanation | undefined> {
  if (!existsSync(folder)) return undefined;
  if (await isKernelLockHeld(folder)) {
    return explanationOf(folder, holderIn(join(folder, 'holder')), self, RECOVERY);
  }
  const earlier = earlierHolder(folder, self);
  return earlier && explanationOf(earlier.path, earlier, self, RECOVERY);
}

function lockOf(releaseKernel: () => void, holder: string): NodeLock {
  let isReleased = false;
  const release = () => {
    // After a release the file may name the next holder.
    if (isReleased) return;
    isReleased = true;
    emptyIfWritable(holder);
    releaseKernel();
  };
  return { isActing: false, release };
}

interface Holder extends Partial<Record<'pid' | 'startTime' | 'pidNamespace' | 'boot', unknown>> {
  readonly since?: unknown;
}

function holderIn(path: string): Holder {
  return fieldsIn(textIfThere(path, LOCK_BYTES_MAX) ?? '');
}

function explanationOf(
  path: string,
  holder: Holder,
  self: Actor,
  text: LockHolderText,
): Explanation {
  const { pid, since, pidNamespace } = holder;
  const isKnown = typeof pid === 'number' && typeof since === 'string';
  const time = isKnown ? since.replace('T', ' ').slice(0, 19) : '';
  const isElsewhere = isKnown && pidNamespace !== self.pidNamespace;
  return {
    what: `${text.who}${isKnown ? ` (pid ${pid}, since ${time} UTC)` : ''} ${text.does}`,
    why: `it holds the lock of ${path}${isElsewhere ? '; its pid is that of another PID namespace' : ''}`,
    todo: text.todo,
  };
}

// lock.17
const EARLIER = /^lock\.(\d+)$/;

function earlierFiles(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => EARLIER.test(name));
}

/**
 * The holder of a lock of earlier versions: a process named by the newest of numbered files.
 * It counts only when we see it alive.
 */
function earlierHolder(folder: string, self: Actor): (Holder & { path: string }) | undefined {
  const numbers = earlierFiles(folder).map((name) => Number(EARLIER.exec(name)?.[1]));
  const path = join(folder, `lock.${Math.max(...numbers)}`);
  const holder = numbers.length > 0 ? holderIn(path) : {};
  return isAliveHere(holder, self) ? { ...holder, path } : undefined;
}

function isAliveHere({ pid, startTime, boot, pidNamespace }: Holder, self: Actor): boolean {
  if (typeof pid !== 'number' || boot !== self.boot) return false;
  if (pidNamespace !== self.pidNamespace || pid === self.pid) return false;
  const stat = textIfThere(`/proc/${pid}/stat`, LOCK_BYTES_MAX) ?? '';
  // 812 (kubediag) Z 1 812: a zombie is not alive.
  return startTimeOf(stat) === startTime && !/\) [ZX] /.test(stat);
}
