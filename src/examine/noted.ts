import { blockedThreads } from '../evidence/blocked-threads.ts';
import { containerStatuses } from '../evidence/container-statuses.ts';
import { containers } from '../evidence/containers.ts';
import { health } from '../evidence/health.ts';
import { kubeletLog } from '../evidence/kubelet-log.ts';
import { kubeletVersion } from '../evidence/kubelet-version.ts';
import { leftoverFolders } from '../evidence/leftover-folders.ts';
import { mergedUsr } from '../evidence/merged-usr.ts';
import { mountNamespaces } from '../evidence/mount-namespaces.ts';
import { mountTable } from '../evidence/mount-table.ts';
import { pods } from '../evidence/pods.ts';
import { runtime } from '../evidence/runtime.ts';
import { teardownLog } from '../evidence/teardown-log.ts';
import { unloggedContainers } from '../evidence/unlogged-containers.ts';
import { volumeMetrics } from '../evidence/volume-metrics.ts';
import { workingFolder } from '../evidence/working-folder.ts';
import type { Evidence } from '../model/evidence.ts';

/** What the collector could not read, by the evidence that lacks it. */
export interface Noted {
  readonly of: ReadonlyMap<Evidence<unknown>, string>;
  /** What concerns no file, and so perhaps everything. */
  readonly general: readonly string[];
}

const OF_CONTAINERS = [containers, containerStatuses, unloggedContainers];

/** By how a note begins: the file that it speaks of. */
const FILES: readonly (readonly [RegExp, readonly Evidence<unknown>[]])[] = [
  // mountinfo.txt: no answer in time, left behind: process 4138
  [/^mountinfo\.txt: /, [mountTable]],
  // mount namespaces: more than 100, the rest was left out
  [/^(?:mountinfo-\d+\.txt|mount namespaces): /, [mountNamespaces]],
  // volumes.txt: no answer in time, left behind: process 4138
  [/^volumes\.txt: /, [leftoverFolders]],
  // kubelet-log.txt: only its last 100000 lines
  [/^(?:kubelet-log|log-[\w.-]+)\.txt: /, [kubeletLog, teardownLog]],
  // kubelet-version.txt: not asked, for others than root could have written its program
  [/^kubelet-version\.txt: /, [kubeletVersion]],
  // metrics.txt: ended with 7: curl: (7) Failed to connect to 127.0.0.1 port 10255
  [/^metrics\.txt: /, [volumeMetrics, kubeletVersion]],
  // healthz.txt: neither curl nor wget is here
  [/^healthz\.txt: /, [health]],
  // pods.txt: ended with 7: curl: (7) Failed to connect to 127.0.0.1 port 10255
  [/^pods\.txt: /, [pods]],
  // containers.txt: more than 200, the rest was not inspected
  [/^(?:containers|sandboxes|container-[0-9a-f]+)\.txt: /, OF_CONTAINERS],
  // runtime-version.txt: ended with 1: connect: connection refused
  [/^runtime-version\.txt: /, [runtime]],
  // root-links.txt: no answer in time, left behind: process 4138
  [/^root-links\.txt: /, [mergedUsr]],
  // kubelet-threads.txt: no answer in time, left behind: process 4138
  [/^kubelet-threads\.txt: /, [blockedThreads]],
  // working-folder.txt: no answer in time, left behind: process 4138
  [/^working-folder\.txt: /, [workingFolder]],
  // dmesg.txt: ended with 1: dmesg: read kernel buffer failed: Operation not permitted
  [/^(?:dmesg|about)\.txt: /, []],
];

export function notedIn(notes: readonly string[]): Noted {
  const of = new Map<Evidence<unknown>, string>();
  const general: string[] = [];
  for (const note of notes) {
    const about = FILES.find(([pattern]) => pattern.test(note))?.[1];
    if (!about) general.push(note);
    for (const evidence of about ?? []) {
      const before = of.get(evidence);
      of.set(evidence, before === undefined ? note : `${before}; ${note}`);
    }
  }
  return { of, general };
}
