import { originText } from '../../model/origin.ts';
import type { LogEntry } from '../logs/log-entries.ts';
import { leftoverName } from './leftover-names.ts';

/** One line of the kubelet's log, from any source. */
export type LoggedLine = Pick<LogEntry, 'message' | 'time' | 'text' | 'origin'>;

/** A volume that the kubelet could not tear down, from all log lines about it. */
export interface TeardownFailure {
  readonly podUid: string;
  /** The name of the plugin's directory: "kubernetes.io~secret". */
  readonly plugin: string;
  /** The volume's directory: <root>/pods/<uid>/volumes/<plugin>/<volume>. */
  readonly path: string;
  /** rename: renaming it failed. remove: removing the renamed directory failed. */
  readonly operation: 'rename' | 'remove';
  readonly error: TeardownError;
  /** Names of leftovers in these lines. */
  readonly leftovers: ReadonlySet<string>;
  readonly count: number;
  readonly last: LoggedLine;
}

/**
 * exists: EEXIST, from Go's rename since 1.8. busy: EBUSY, from the kernel. cut: the line is
 * truncated.
 */
export type TeardownError = 'exists' | 'busy' | 'not-empty' | 'other' | 'cut';

export interface PodComplaint {
  readonly podUid: string;
  readonly count: number;
  readonly last: LoggedLine;
}

export interface TeardownFailures {
  readonly failures: readonly TeardownFailure[];
  /** Orphaned pods whose directory the kubelet cannot remove. */
  readonly orphans: ReadonlyMap<string, PodComplaint>;
  /** Pods with a leftover that the kubelet took for a volume at its start. */
  readonly unreadable: ReadonlyMap<string, PodComplaint>;
}

// rename /var/lib/kubelet/pods/U/volumes/P/a /var/lib/kubelet/pods/U/volumes/P/a.deleting~1: file exists
const RENAME = /\brename (\/\S+) (\/[^\s"]+?)(?::\s*([^"]*)|"?$)/;

// remove /var/lib/kubelet/pods/U/volumes/P/a.deleting~765506473: device or resource busy
// unlinkat /var/lib/kubelet/pods/U/volumes/P/a.deleting~765506473: device or resource busy
const REMOVE = /\b(?:remove|unlinkat|rmdir) (\/[^\s":]+):\s*([^"]*)/;

// found, but failed to rmdir() volume at path /var/lib/kubelet/pods/U/volumes/P/a.deleting~1: directory not empty
const RMDIR = /failed to rmdir\(\) volume at path (\/[^\s":]+):\s*([^"]*)/;

// Orphaned volume "612f2e76-3ce1/wrapped_token.deleting~765506473" found, tearing down volume
const ORPHANED_VOLUME = /Orphaned volume "([^"/]+)\/([^"]+)" found/;

// with: rename /var/lib/kubelet/pods/U/volumes/kubernetes.io~empty-dir/a.deleting~355603580.deleting~68
const CUT = /\b(rename|remove) (\/\S+)$/;

// /var/lib/kubelet/pods/612f2e76-3ce1/volumes/transwarp.io~tosdisk/pvc-f39e86b9.deleting~859156558
const VOLUME = /^(.*\/pods\/([^/]+)\/volumes\/([^/]+))\/([^/]+)/;

// orphaned pod "0ea83064-3383-11e7-b2b1-005056b7dc12" found, but volume paths are still present on disk
// orphaned pod "0ea83064" found, but failed to rmdir() volume at path /var/...: directory not empty
const ORPHAN = /\borphaned pod "([^"]+)" found, but /i;

// (pod.UID 612f2e76-3ce1, volume.SpecName pvc-x.deleting~123456789): no volume plugin matched
// "Could not construct volume information" podName="612f2e76" volumeSpecName="pvc-x.deleting~1" err=...
const UNREADABLE =
  /Could not construct volume information.*?(?:pod\.UID |podName="?)([\w-]+).*?volume\.?SpecName[= ]"?([^\s"):,]+)/;

/** A mutable failure: a log can have a million lines about it. */
type Found = TeardownFailure & { readonly leftovers: Set<string> };

/** The failed teardowns in the lines of a kubelet's log. */
export function teardownFailures(lines: readonly LoggedLine[]): TeardownFailures {
  const failures = new Map<string, Found>();
  const orphans = new Map<string, PodComplaint>();
  const unreadable = new Map<string, PodComplaint>();
  let before: LoggedLine | undefined;
  for (const line of lines) {
    // A line with two matches comes twice.
    if (before?.text === line.text && originText(before.origin) === originText(line.origin))
      continue;
    before = line;
    const failure = failureIn(line);
    if (failure) {
      const key = `${failure.path} ${failure.operation} ${failure.error}`;
      failures.set(key, together(failures.get(key), failure));
    }
    const orphan = ORPHAN.exec(line.message)?.[1];
    if (orphan !== undefined) count(orphans, orphan, line);
    const taken = UNREADABLE.exec(line.message) ?? ORPHANED_VOLUME.exec(line.message);
    const [, podUid, name] = taken ?? [];
    if (podUid !== undefined && leftoverName(name ?? '')) count(unreadable, podUid, line);
  }
  return { failures: [...failures.values()], orphans, unreadable };
}

function failureIn(line: LoggedLine): Found | undefined {
  const { message } = line;
  const [tried, left = '', reported] = RMDIR.exec(message) ?? [];
  if (tried !== undefined) return failureOf(line, 'remove', [left], reported);
  if (!/tear ?down/i.test(message)) return undefined;
  const [renamed, from = '', to = '', why] = RENAME.exec(message) ?? [];
  if (renamed !== undefined) return failureOf(line, 'rename', [from, to], why);
  const [removed, path = '', reason] = REMOVE.exec(message) ?? [];
  if (removed !== undefined) return failureOf(line, 'remove', [path], reason);
  const [, operation, cut = ''] = CUT.exec(message) ?? [];
  // If a line ends in the middle of a name, the truncated name is used.
  if (operation !== 'rename' && operation !== 'remove') return undefined;
  return failureOf(line, operation, [cut], undefined);
}

/** The first path is that of the volume, or of its leftover. */
function failureOf(
  last: LoggedLine,
  operation: TeardownFailure['operation'],
  paths: readonly string[],
  why: string | undefined,
): Found | undefined {
  const [, folder, podUid, plugin, name = ''] = VOLUME.exec(paths[0] ?? '') ?? [];
  if (folder === undefined || podUid === undefined || plugin === undefined) return undefined;
  const names = [name, paths.at(-1)?.split('/').at(-1) ?? ''];
  return {
    podUid,
    plugin,
    path: `${folder}/${leftoverName(name)?.volume ?? name}`,
    operation,
    error: errorIn(why),
    leftovers: new Set(names.filter(leftoverName)),
    count: 1,
    last,
  };
}

/** Copied logs sometimes lack a space. */
function errorIn(why: string | undefined): TeardownError {
  if (why === undefined || why.trim() === '') return 'cut';
  if (/^file\s*exists/.test(why)) return 'exists';
  if (/^device\s*or\s*resource\s*busy/.test(why)) return 'busy';
  return /^directory\s*not\s*empty/.test(why) ? 'not-empty' : 'other';
}

function together(known: Found | undefined, next: Found): Found {
  if (!known) return next;
  for (const name of next.leftovers) known.leftovers.add(name);
  return { ...known, count: known.count + 1, last: later(known.last, next.last) };
}

function count(known: Map<string, PodComplaint>, podUid: string, line: LoggedLine): void {
  const before = known.get(podUid);
  const last = before ? later(before.last, line) : line;
  known.set(podUid, { podUid, count: (before?.count ?? 0) + 1, last });
}

/** Logs come from several files. Without a time, the order of the lines counts. */
function later(left: LoggedLine, right: LoggedLine): LoggedLine {
  if (left.time && right.time) return left.time > right.time ? left : right;
  return right;
}
