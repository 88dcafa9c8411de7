import { unescapeOctal } from '../../../lib/std/unescape-octal.ts';
import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { FileOrigin } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { STABLE_READS_MAX } from '../limits.ts';

/** One line of a mount table. */
export interface Mount {
  readonly id: number;
  readonly parent: number;
  /** As the kernel prints it: "254:1". All mounts of one filesystem have the same device. */
  readonly device: string;
  /** The path inside the filesystem that is mounted, without the "//deleted" mark. */
  readonly root: string;
  /** The root was unlinked after the mount: the kernel prints it with "//deleted". */
  readonly isDeleted: boolean;
  readonly target: string;
  readonly options: string;
  readonly fsType: string;
  readonly source: string;
  /** Its line in the table, counted from 1. */
  readonly line: number;
}

export interface MountTable {
  readonly mounts: readonly Mount[];
  /** The path of the table: "/proc/812/mountinfo". */
  readonly origin: FileOrigin;
  /** The original line of this mount. */
  readonly lineText: (mount: Mount) => string;
}

export const mountTable = defineEvidence<MountTable>({
  id: 'mount-table',
  title: 'Mounts as the kubelet sees them',
  command: 'cat /proc/$(pidof kubelet)/mountinfo',
  collect: async (snapshot) => {
    const { process } = await snapshot.of(kubelet);
    // The kubelet's view: we, or the kubelet, may run in a container. Without a kubelet, its mounts
    // are in the namespace of process 1.
    return readMountTable(snapshot, process?.pid ?? 1, await hasConsistentTables(snapshot));
  },
});

/**
 * The mounts in the namespace of a process that are below its root. On a kernel without consistent
 * tables, two reads in a row must agree.
 */
export async function readMountTable(
  { node }: Snapshot,
  pid: number,
  isConsistent: boolean,
): Promise<MountTable> {
  const path = `/proc/${pid}/mountinfo`;
  let text = await node.ask('file', { path });
  if (isConsistent) return parseMountTable(text, path);
  for (let read = 1; read < STABLE_READS_MAX; read += 1) {
    const again = await node.ask('file', { path });
    if (again === text) return parseMountTable(text, path);
    text = again;
  }
  throw new ReadError('failed', path, `it changed during each of ${STABLE_READS_MAX} reads`);
}

/** Kernels before 5.8 can skip or repeat lines while mounts change. */
export async function hasConsistentTables({ node }: Snapshot): Promise<boolean> {
  // 4.19.0-25-amd64
  const release = await node.ask('file', { path: '/proc/sys/kernel/osrelease' });
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  return Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 8);
}

// 65 44 254:0 /pods/u1/app.conf//deleted /pods/u1/subpath/0 rw,relatime shared:1 - ext4 /dev/vda rw
// id parent device root target options optional... - fstype source super-options
export function parseMountTable(text: string, file: string): MountTable {
  const mounts: Mount[] = [];
  const starts: number[] = [];
  let start = 0;
  let nextEscape = text.indexOf('\\');
  for (let line = 1; start < text.length; line += 1) {
    const end = text.indexOf('\n', start);
    // A table always ends with a line break, so a text without one was truncated.
    if (end < 0) throw malformed(file, line, 'it is cut off in the middle of a line');
    if (nextEscape >= 0 && nextEscape < start) nextEscape = text.indexOf('\\', start);
    const hasEscape = nextEscape >= 0 && nextEscape < end;
    const mount = parseMount(text, start, end, line, hasEscape);
    if (!mount) throw malformed(file, line, 'it is not a line of a mount table');
    mounts.push(mount);
    starts.push(start);
    start = end + 1;
  }
  if (mounts.length === 0) throw new ReadError('malformed', file, 'the mount table is empty');
  const twin = repeatedMount(mounts);
  if (twin) throw malformed(file, twin.line, `mount ${twin.id} is there twice`);
  return { mounts, origin: { file }, lineText: ({ line }) => lineAt(text, starts[line - 1]) };
}

/** A table that a user copied: other lines are skipped. */
export function looseMountTable(text: string, file: string): MountTable {
  const lines = text.split('\n');
  const mounts = lines.flatMap((line, index) => {
    const plain = line.trim();
    return parseMount(plain, 0, plain.length, index + 1, plain.includes('\\')) ?? [];
  });
  return { mounts, origin: { file }, lineText: ({ line }) => lines[line - 1]?.trim() ?? '' };
}

/** Equal ids are neighbours after sorting. A set of 100,000 ids would take twice as long. */
function repeatedMount(mounts: readonly Mount[]): Mount | undefined {
  const ids = new Float64Array(mounts.length);
  for (let at = 0; at < ids.length; at += 1) ids[at] = mounts[at]?.id ?? 0;
  ids.sort();
  for (let at = 1; at < ids.length; at += 1) {
    if (ids[at] === ids[at - 1]) return mounts.findLast(({ id }) => id === ids[at]);
  }
  return undefined;
}

const DELETED = '//deleted';

/** Parses a line in place: another string or object per line would double the cost. */
function parseMount(
  text: string,
  start: number,
  end: number,
  line: number,
  hasEscape: boolean,
): Mount | undefined {
  const afterId = spaceFrom(text, start);
  const afterParent = spaceFrom(text, afterId + 1);
  const afterDevice = spaceFrom(text, afterParent + 1);
  const afterRoot = spaceFrom(text, afterDevice + 1);
  const afterTarget = spaceFrom(text, afterRoot + 1);
  const afterOptions = spaceFrom(text, afterTarget + 1);
  const dash = text.indexOf(' - ', afterOptions);
  const afterType = spaceFrom(text, dash + 3);
  // Each index follows the one before it, so if the last is in the line, all are.
  if (dash < 0 || afterType >= end) return undefined;

  const id = countIn(text, start, afterId);
  const parent = countIn(text, afterId + 1, afterParent);
  const device = text.slice(afterParent + 1, afterDevice);
  const root = text.slice(afterDevice + 1, afterRoot);
  const target = text.slice(afterRoot + 1, afterTarget);
  if (id === undefined || parent === undefined || !isDevice(device)) return undefined;
  // The root may not be a path: that of a namespace is "net:[4026532008]".
  if (root === '' || !target.startsWith('/')) return undefined;

  // "//" cannot occur in a path of the kernel, so the mark is unambiguous before decoding.
  const isDeleted = root.endsWith(DELETED);
  const path = isDeleted ? root.slice(0, -DELETED.length) : root;
  const source = text.slice(afterType + 1, Math.min(spaceFrom(text, afterType + 1), end));
  return {
    id,
    parent,
    device,
    root: hasEscape ? unescapeOctal(path) : path,
    isDeleted,
    target: hasEscape ? unescapeOctal(target) : target,
    options: text.slice(afterTarget + 1, afterOptions),
    fsType: text.slice(dash + 3, afterType),
    source: hasEscape ? unescapeOctal(source) : source,
    line,
  };
}

/** The index of the next space, or the length of the text. */
function spaceFrom(text: string, start: number): number {
  const at = text.indexOf(' ', start);
  return at < 0 ? text.length : at;
}

/** The number between two indexes; undefined unless it consists of digits. */
function countIn(text: string, start: number, end: number): number | undefined {
  let count = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    count = count * 10 + digit;
  }
  return end > start && Number.isSafeInteger(count) ? count : undefined;
}

// 254:1
function isDevice(device: string): boolean {
  const colon = device.indexOf(':');
  if (colon < 0 || countIn(device, 0, colon) === undefined) return false;
  return countIn(device, colon + 1, device.length) !== undefined;
}

function lineAt(text: string, start: number | undefined): string {
  if (start === undefined) return '';
  const line = text.slice(start, text.indexOf('\n', start));
  // A copied table may have the line breaks of another system.
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function malformed(file: string, line: number, what: string): ReadError {
  return new ReadError('malformed', file, `line ${line} is malformed: ${what}`);
}
