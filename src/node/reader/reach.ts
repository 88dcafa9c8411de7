import { type Question, type QuestionKind, sourceOf } from '../model/node-reader.ts';

/** Where systemd stores the journal of a node: on its disk, or else only until the next boot. */
export const JOURNAL_FOLDER = '/var/log/journal';
export const VOLATILE_JOURNAL_FOLDER = '/run/log/journal';

/** What a question touches first, and so where it can hang. */
export function placeOf(asked: Question<QuestionKind>): string {
  if ('socket' in asked) return asked.socket;
  if ('program' in asked) return asked.program;
  if ('log' in asked) {
    return 'file' in asked.log ? asked.log.file : (asked.log.folder ?? JOURNAL_FOLDER);
  }
  if ('all' in asked || 'instances' in asked) return '/proc';
  // These read the memory of the process.
  if ('stacksOf' in asked) return `/proc/${asked.stacksOf}/mem`;
  if ('threadsOf' in asked) return `/proc/${asked.threadsOf}/mem`;
  if ('filesOf' in asked) return `/proc/${asked.filesOf}/maps`;
  return 'port' in asked ? sourceOf(asked) : asked.path;
}

/**
 * How far a question reaches, and so what can hang it: a table that the kernel makes up itself
 * cannot hang; the memory of a process can, while that process waits on a dead mount with its
 * memory locked; a path of a disk or a server hangs with it.
 */
export type Reach = 'table' | 'memory' | 'path';

// /proc/812/root/etc/kubernetes/kubelet.conf, /proc/812/task/813/cwd, /proc/812/fd/3
const LEADS_AWAY =
  /^\/proc\/[^/]+\/(?:task\/\d+\/)?(?:root|cwd|exe|fd\/[^/]+|map_files\/[^/]+)(\/.*)?$/;

// /proc/812/cmdline
const MEMORY =
  /^\/proc\/[^/]+\/(?:task\/\d+\/)?(?:cmdline|environ|auxv|mem|maps|smaps\w*|numa_maps|pagemap)$/;

export function reachOf(kind: QuestionKind, place: string): Reach {
  if (place !== '/proc' && !place.startsWith('/proc/')) return 'path';
  const away = LEADS_AWAY.exec(place);
  // A question about the link itself only reads it; any other question follows it.
  if (away) return !away[1] && (kind === 'link' || kind === 'status') ? 'table' : 'path';
  return MEMORY.test(place) ? 'memory' : 'table';
}

// /proc/812/mountinfo
const MOUNTS = /^\/proc\/[^/]+\/mountinfo$/;

/** Tables that cannot hang, and yet keep the kernel busy for a millisecond or more. */
export function isLongTable(kind: QuestionKind, place: string): boolean {
  return kind === 'file' && MOUNTS.test(place);
}

/**
 * Questions that a service or a program answers, each with a deadline of its own in the reader. A
 * log that is a file is read at once all the same, before the next question is begun.
 */
const WAITS_FOR_OTHERS: ReadonlySet<QuestionKind> = new Set([
  'kubelet',
  'goroutines',
  'profile',
  'runtime',
  'version',
  'log',
]);

/** Questions that touch a path and nothing else: they wait for no one but the kernel. */
export function isPathKind(kind: QuestionKind): boolean {
  return !WAITS_FOR_OTHERS.has(kind);
}

/** Whether a read that waits at one place would wait at the other too. */
export function liesOn(place: string, hungPlace: string): boolean {
  return place === hungPlace || place.startsWith(`${hungPlace}/`);
}
