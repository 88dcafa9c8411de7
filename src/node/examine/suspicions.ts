import { kubeletLogOf } from '../evidence/logs/log-entries.ts';
import type { SignatureId } from '../evidence/logs/log-signatures.ts';
import type { Gathering } from './gathering.ts';
import { SUSPICION_CHARACTERS_MAX } from './limits.ts';
import { bareNames, listedPaths } from './listed-folders.ts';
import type { Part } from './part.ts';

/** What the texts hint at without being evidence of it: why, by the id of the fault. */
export type Suspicions = ReadonlyMap<string, string>;

export function suspicionsIn({ parts }: Gathering, now: Date): Suspicions {
  const found: (readonly [string, string])[] = [];
  const of = (kind: Parameters<typeof parts.get>[0]) => parts.get(kind) ?? [];
  // The first that is said of a fault stays: what somebody quotes is the weakest.
  for (const part of [...of('other'), ...of('events')]) found.push(...quotedIn(part, now));
  for (const part of of('task')) found.push(...waitIn(part));
  for (const part of of('plain-mounts')) found.push(...lostIn(part));
  for (const part of of('listing')) found.push(...leftIn(part));
  return new Map(found);
}

/** Said by a kubelet that has the fault; the rest of what we know to read is said by healthy ones. */
const TELLING: Partial<Readonly<Record<SignatureId, string>>> = {
  'remove-relative-log': 'container-without-log-path',
  'log-path-empty': 'container-without-log-path',
  'rename-failed': 'leftover-volume-directory',
  'leftover-volume': 'leftover-volume-directory',
  'sync-loop-unhealthy': 'dead-volume-mount',
  'volume-metadata-failed': 'orphaned-volume-metadata',
};

/** The words of an error, without the line of the log in which a kubelet said them. */
function quotedIn({ text, name }: Part, now: Date): readonly (readonly [string, string])[] {
  return kubeletLogOf(text, name, { now }).entries.flatMap(({ signature, text: line, origin }) => {
    const fault = TELLING[signature];
    if (fault === undefined) return [];
    const words = line.trim().slice(0, SUSPICION_CHARACTERS_MAX);
    const why = `suspected: ${origin} quotes words of a kubelet, but not the line of its log: ${words}`;
    return [[fault, why] as const];
  });
}

// --- /proc/812/task/840, as the collector writes above what it saw of each thread of the kubelet
const TASK = /^--- \/proc\/\d+\/task\/(\d+)$/m;

// wchan: request_wait_answer, rpc_wait_bit_killable, ceph_mdsc_wait_request
const WAIT =
  /^wchan: *(\w*(?:request_wait_answer|fuse|rpc_wait|nfs4?_|ceph_|cifs_|smb2?_|wait_on_commit)\w*)/m;

/** One sight of a thread proves no hang: a healthy kubelet waits for a moment, too. */
function waitIn({ whole, name }: Part): readonly (readonly [string, string])[] {
  for (const task of whole.split(/^(?=--- \/proc\/)/m)) {
    const wait = WAIT.exec(task)?.[1];
    if (wait === undefined) continue;
    const thread = TASK.exec(task)?.[1];
    const who = thread === undefined ? 'somebody' : `thread ${thread} of the kubelet`;
    const why =
      `suspected: ${who} waits for a filesystem, in ${wait} (${name}); on which path, and for how ` +
      'long, is not in it';
    return [['dead-volume-mount', why]];
  }
  return [];
}

// /var/lib/kubelet/pods/29da79e5-.../volume-subpaths/conf/app/1 /dev/vda1[/pods/.../app.conf//deleted]
const LOST_SOURCE = /(\/\S*\/volume-subpaths\/\S+)\s+\S*\[[^\]\n]*\/\/deleted\]/;

function lostIn({ text, name }: Part): readonly (readonly [string, string])[] {
  const lost = LOST_SOURCE.exec(text)?.[1];
  if (lost === undefined) return [];
  const why = `suspected: ${name} shows a lost source at ${lost}, but not of which volume it was`;
  return [['stale-subpath-mount', why]];
}

function leftIn({ text, name }: Part): readonly (readonly [string, string])[] {
  const bare = bareNames(text).find((each) => LEFTOVER.test(each));
  const placed = listedPaths(text).find((path) => LEFTOVER_PATH.test(path));
  if (bare === undefined && placed === undefined) return [];
  const why =
    placed === undefined
      ? `suspected: ${name} lists ${bare}, but not in which folder it lies`
      : `suspected: ${name} lists ${placed}, but not for how long it has been there`;
  return [['leftover-volume-directory', why]];
}

// pvc-f39e86b9-019b-11e8.deleting~859156558
const LEFTOVER = /\.deleting~\d{1,10}\/?$/;

// /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-f39e.deleting~859156558/lost+found
const LEFTOVER_PATH = /\/pods\/[^/]+\/volumes\/[^/]+\/[^/]+\.deleting~\d{1,10}(?:\/|$)/;
