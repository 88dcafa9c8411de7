import { containerStatuses } from '../evidence/containers/container-statuses.ts';
import { containers } from '../evidence/containers/containers.ts';
import { runtime } from '../evidence/containers/runtime.ts';
import { unloggedContainers } from '../evidence/containers/unlogged-containers.ts';
import { mergedUsr } from '../evidence/deletions/merged-usr.ts';
import { workingFolder } from '../evidence/deletions/working-folder.ts';
import { health } from '../evidence/kubelet/health.ts';
import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { kubeletLog } from '../evidence/logs/kubelet-log.ts';
import { mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { pods } from '../evidence/pods/pods.ts';
import { blockedThreads } from '../evidence/stacks/blocked-threads.ts';
import { leftoverFolders } from '../evidence/volumes/leftover-folders.ts';
import { teardownLog } from '../evidence/volumes/teardown-log.ts';
import { volumeMetrics } from '../evidence/volumes/volume-metrics.ts';
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
