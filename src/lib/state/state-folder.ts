import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { access, lstat, open, readdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DiskAdvice, diskAdvice } from '../std/disk-advice.ts';
import { jsonValue } from '../std/json.ts';
import { DISK_MS } from './limits.ts';
import { octal, replaceableBy } from './trusted-path.ts';

/** Creates our directory if it is missing; throws if another user could write or replace it. */
export async function prepareFolder(folder: string): Promise<void> {
  // Before anything is made: what is made below a directory of somebody else is theirs to move.
  refuseReplaceable(folder);
  const created = makeFolder(folder);
  if (created !== undefined) await syncFolder(dirname(created));
  // Somebody else may have been faster in a directory that all can write to.
  if (created !== undefined) refuseReplaceable(folder);
  await requireOurs(folder);
}

/** Throws where `prepareFolder` would, as far as that is known without changing anything. */
export async function checkFolder(folder: string): Promise<void> {
  refuseReplaceable(folder);
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  if (there === folder) await requireOurs(folder);
  await access(there, constants.W_OK | constants.X_OK);
}

async function requireOurs(folder: string): Promise<void> {
  const { mode, uid } = await lstat(folder);
  if ((mode & constants.S_IFMT) !== constants.S_IFDIR) {
    throw new DiskError(`${folder} is not a directory`, OTHER_FOLDER);
  }
  // A user who can write here can forge the journal and the lock.
  requireOwner(folder, uid, OTHER_FOLDER);
  if ((mode & 0o022) !== 0) {
    const why = `others than its owner can write to ${folder} (mode ${octal(mode)})`;
    // Others need their rights on a directory that is not ours alone, such as /tmp.
    const names = await readdir(folder);
    const isOurs = names.length === 0 || OWN_FILES.some((name) => names.includes(name));
    throw new DiskError(why, isOurs ? `chmod 700 ${folder}, or ${OTHER_FOLDER}` : OTHER_FOLDER);
  }
}

/** Files that only a state directory of kubediag has. */
const OWN_FILES = ['journal.jsonl', 'store.sqlite'];

const OTHER_FOLDER = 'choose another --state-dir';

/** Throws if another user owns the path, without advice to change its owner. */
function requireOwner(path: string, uid: number, instead: string): void {
  const self = process.geteuid?.();
  if (uid === self) return;
  const todo = self === 0 ? `ask its owner, or ${instead}` : `run it as root (sudo), or ${instead}`;
  throw new DiskError(
    `${path} belongs to user ${uid}, not to ${self === 0 ? 'root' : 'you'}`,
    todo,
  );
}

function refuseReplaceable(folder: string): void {
  const why = replaceableBy(dirname(folder));
  if (why !== undefined) throw new DiskError(why, OTHER_FOLDER);
}

/**
 * Makes a directory of root's own and those above it, and gives the highest that was missing. Node's
 * way to make several at once calls a disk that is read-only "no such file or directory".
 */
export function makeFolder(folder: string): string | undefined {
  if (existsSync(folder)) return undefined;
  const created = makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process has created it first.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return created ?? folder;
}

/** On disk when it resolves. An incomplete line from an earlier crash stays a separate line. */
export async function appendSynced(path: string, line: string): Promise<void> {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const file = await open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const isTorn = size > 0 && last.toString() !== '\n';
    await file.appendFile(`${isTorn ? '\n' : ''}${line}\n`);
    await file.sync();
    if (size === 0) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

/**
 * Creates or replaces a file of root, on disk when it resolves. It is written under another name
 * and renamed: a crash leaves the old file or the new one.
 */
export async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  await writeContent(unfinished, content, constants.O_TRUNC);
  await rename(unfinished, path);
  await syncFolder(dirname(path));
}

/** The content is on disk when it resolves, but not yet the directory entry. */
export async function writeContent(
  path: string,
  content: string | Uint8Array,
  flag: number,
): Promise<void> {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | flag, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name is only safe once its directory is on disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The text of a file of ours; undefined if it does not exist. Throws any other error. */
export function textIfThere(path: string, bytesMax: number): string | undefined {
  try {
    if (statSync(path).size > bytesMax)
      throw new DiskError(`${path} is larger than ${bytesMax} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    // ESRCH: the process exited while its file in /proc was read.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined;
    throw error;
  }
}

/** Like `textIfThere`, but throws if another user can read the file. */
export function secretIfThere(path: string, bytesMax: number): string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status) return undefined;
  if (!status.isFile()) throw new DiskError(`${path} is not a regular file`);
  requireOwner(path, status.uid, 'name another file');
  if ((status.mode & 0o077) !== 0) {
    const why = `others than its owner can read ${path} (mode ${octal(status.mode)})`;
    throw new DiskError(why, `if nobody else has read it: chmod 600 ${path}; else replace it`);
  }
  return textIfThere(path, bytesMax);
}

/** Truncates a file, which works on a full disk; on a read-only disk the text stays. */
export function emptyIfWritable(path: string): void {
  try {
    truncateSync(path, 0);
  } catch (error) {
    if (!hasCode(error, 'EROFS') && !hasCode(error, 'ENOENT') && !hasCode(error, 'EIO'))
      throw error;
  }
}

/** The fields of a JSON object; none if the text is no JSON object. */
export function fieldsIn(text: string): Readonly<Partial<Record<string, unknown>>> {
  const value = jsonValue(text)?.value;
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** A failure of the disk, or a directory that another user can write, with advice. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly todo: string;

  constructor(message: string, todo = `fix that, or ${OTHER_FOLDER}`) {
    super(message);
    this.todo = todo;
  }
}

/** The result, or why there is none. */
export type Tried<T, Why = { readonly why: string }> =
  | { readonly ok: true; readonly value: T }
  | ({ readonly ok: false } & Why);

/** The result of a disk operation, or the reason with advice. */
export type TriedDisk<T> = Tried<T, DiskAdvice>;

/**
 * Returns a disk error, or a timeout, as a result. A write that completes after the timeout is
 * found at the next start; `onLate` gives back what else the work has taken by then. Any other error is
 * a bug and is thrown.
 */
export async function tried<T>(
  work: Promise<T>,
  withinMs = DISK_MS,
  onLate: (value: T) => void = () => {},
): Promise<TriedDisk<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const silent = `the disk did not answer within ${withinMs / 1000} s`;
    const error = new DiskError(silent, `see dmesg, and ${OTHER_FOLDER}`);
    timer = setTimeout(() => {
      reject(error);
      void work.then(onLate, () => {});
    }, withinMs);
  });
  try {
    return { ok: true, value: await Promise.race([work, late]) };
  } catch (error) {
    const advice = adviceOn(error);
    if (!advice) throw error;
    return { ok: false, ...advice };
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined if it is no disk error. */
export function adviceOn(error: unknown, instead = OTHER_FOLDER): DiskAdvice | undefined {
  if (error instanceof DiskError) return { why: error.message, todo: error.todo };
  const isRoot = process.geteuid?.() === 0;
  const isDisk = error instanceof Error && 'syscall' in error;
  return (
    diskAdvice(error, { isRoot, instead }) ??
    (isDisk ? { why: error.message, todo: `fix that, or ${instead}` } : undefined)
  );
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
