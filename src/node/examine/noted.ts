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

/** By the file that a note speaks of. */
const FILES: readonly (readonly [RegExp, readonly Evidence<unknown>[]])[] = [
  // mountinfo.txt: no answer in time, left behind: process 4138
  // mount namespaces: more than 100, the rest was left out
  [/^mountinfo$/, [mountTable]],
  [/^(?:mountinfo-\d+|mount namespaces)$/, [mountNamespaces]],
  [/^volumes$/, [leftoverFolders]],
  [/^(?:kubelet-log|log-[\w.-]+)$/, [kubeletLog, teardownLog]],
  [/^kubelet-version$/, [kubeletVersion]],
  [/^metrics$/, [volumeMetrics, kubeletVersion]],
  [/^healthz$/, [health]],
  [/^pods$/, [pods]],
  [/^(?:containers|sandboxes|container-[0-9a-f]+)$/, OF_CONTAINERS],
  [/^runtime-version$/, [runtime]],
  [/^root-links$/, [mergedUsr]],
  [/^kubelet-threads$/, [blockedThreads]],
  [/^working-folder$/, [workingFolder]],
  [/^(?:dmesg|about)$/, []],
];

// "pods.txt: …"; only the mount namespaces are not one file. "pods: …" may be about anything.
const FILE = /^(?:[^: ]+(?=\.txt: )|mount namespaces(?=: ))/;

export function notedIn(notes: readonly string[]): Noted {
  const of = new Map<Evidence<unknown>, string>();
  const general: string[] = [];
  for (const note of notes) {
    const [file = ''] = FILE.exec(note) ?? [];
    const about = FILES.find(([pattern]) => pattern.test(file))?.[1];
    if (!about) general.push(note);
    for (const evidence of about ?? []) {
      const before = of.get(evidence);
      of.set(evidence, before === undefined ? note : `${before}; ${note}`);
    }
  }
  return { of, general };
}
