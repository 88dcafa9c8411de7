import { bytewiseSorted } from '../../../lib/std/bytewise.ts';
import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { type Entry, ReadError } from '../../model/node-reader.ts';
import type { FileOrigin } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { ENTRIES_AT_ONCE_MAX, SWEPT_NAMES_MAX } from '../limits.ts';
import { type MountTable, mountTable } from '../mounts/mount-table.ts';
import { unlessMissing } from '../text/file-path.ts';

/** What the kubelet deletes when it removes the logs of a container with a relative log path. */
export interface Sweep {
  /** The working directory; `origin` is where we read it: "/proc/812/cwd". */
  readonly folder: string;
  readonly origin: FileOrigin;
  /** Names below the working directory, in the order of their deletion. */
  readonly deletes: readonly string[];
  /** The first name that cannot be removed; not set if the sweep reaches the end. */
  readonly stop?: { readonly name: string; readonly why: string };
  /** False if there are more names than the limit. */
  readonly isWhole: boolean;
}

/** The sweep of a container without a log path. */
export const workingFolder = defineEvidence<Sweep>({
  id: 'working-folder',
  title: 'The directory that the kubelet works in',
  command: 'ls -lU /proc/$(pidof kubelet)/cwd/',
  collect: (snapshot) => sweepFor(snapshot, ''),
});

async function placeOf(
  snapshot: Snapshot,
): Promise<{ readonly path: string; readonly origin: FileOrigin }> {
  const { process } = await snapshot.of(kubelet);
  if (!process) {
    const why = 'no kubelet runs, so where the next one will work is not known';
    throw new ReadError('missing', 'the working directory of the kubelet', why);
  }
  const origin = { file: `/proc/${process.pid}/cwd` };
  const path = process.workingFolder;
  // "(unreachable)/old": the kernel prints this for a directory outside of the root of the process.
  if (path.startsWith('/')) return { path, origin };
  throw new ReadError('unsupported', origin, `it leads out of the root of the kubelet: ${path}`);
}

// c[0]/0.log*: special characters of Go's Glob, and paths that lead up.
const NOT_PLAIN = /[*?[\\]|(?:^|\/)\.\.(?:\/|$)/;

/**
 * Does the same as the kubelet in Go: Glob(logPath + "*") in the working directory returns every
 * name with that prefix, dot files too, in byte order. os.Remove unlinks each name, or removes it
 * as an empty directory; the first error ends the sweep. File attributes such as "immutable" are
 * not read.
 */
export async function sweepFor(snapshot: Snapshot, logPath: string): Promise<Sweep> {
  const { path, origin } = await placeOf(snapshot);
  if (NOT_PLAIN.test(logPath)) {
    throw new ReadError('unsupported', origin, `the log path ${logPath} is a pattern of its own`);
  }
  const cut = logPath.lastIndexOf('/') + 1;
  const [inner, beginning] = [logPath.slice(0, cut), logPath.slice(cut)];
  const table = await snapshot.of(mountTable);
  const folder = inner === '' ? origin.file : `${origin.file}/${inner.slice(0, -1)}`;
  // Go's Glob ignores a missing directory without an error.
  const listed = (await unlessMissing(snapshot.node.ask('folder', { path: folder }))) ?? [];
  const names = bytewiseSorted(listed.filter((name) => name.startsWith(beginning)));
  const place = `${path === '/' ? '' : path}/${inner}`;
  const entries = (some: readonly string[]) =>
    snapshot.node.ask('entries', { path: folder, names: some });
  const sweep = await walk(names, stopsOf(table, place), entries);
  const { stop } = sweep;
  return {
    ...sweep,
    folder: path,
    origin,
    deletes: sweep.deletes.map((name) => `${inner}${name}`),
    ...(stop ? { stop: { ...stop, name: `${inner}${stop.name}` } } : {}),
  };
}

type Why = (name: string) => string | undefined;

/** From the mount table alone: a mount that does not respond is never accessed. */
function stopsOf(table: MountTable, place: string): Why {
  const targets = new Set(table.mounts.map(({ target }) => target));
  const isReadOnly = isReadOnlyAt(table, place);
  return (name) => {
    if (targets.has(`${place}${name}`)) return 'device or resource busy: a mount lies on it';
    return isReadOnly ? 'read-only file system' : undefined;
  };
}

function isReadOnlyAt(table: MountTable, place: string): boolean {
  const over = table.mounts
    .filter(({ target }) => target === '/' || place.startsWith(`${target}/`))
    .toSorted((left, right) => left.target.length - right.target.length)
    .at(-1);
  if (!over) return false;
  // 27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 ro,errors=remount-ro
  const ofFilesystem = table.lineText(over).split(' ').at(-1) ?? '';
  return [over.options, ofFilesystem].some((options) => options.split(',').includes('ro'));
}

async function walk(
  names: readonly string[],
  whyNot: Why,
  ask: (some: readonly string[]) => Promise<readonly Entry[]>,
): Promise<Pick<Sweep, 'deletes' | 'stop' | 'isWhole'>> {
  const deletes: string[] = [];
  for (let start = 0; start < names.length; start += ENTRIES_AT_ONCE_MAX) {
    const some = names.slice(start, start + ENTRIES_AT_ONCE_MAX);
    const barred = some.findIndex((name) => whyNot(name) !== undefined);
    const free = barred < 0 ? some : some.slice(0, barred);
    const entries = free.length === 0 ? [] : await ask(free);
    for (const { name, status, isEmpty } of entries) {
      if (isEmpty === false) {
        return { deletes, stop: { name, why: 'directory not empty' }, isWhole: true };
      }
      if (status) deletes.push(name); // Otherwise it was removed since it was listed.
    }
    const name = some[barred];
    if (name !== undefined) {
      return { deletes, stop: { name, why: whyNot(name) ?? '' }, isWhole: true };
    }
    if (deletes.length >= SWEPT_NAMES_MAX) return { deletes, isWhole: false };
  }
  return { deletes, isWhole: true };
}
