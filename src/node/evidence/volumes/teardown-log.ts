import { attempt, defineEvidence } from '../../model/evidence.ts';
import { kubeletLog } from '../logs/kubelet-log.ts';
import { endOfLog } from '../logs/log-entries.ts';
import { mountNamespaces } from '../mounts/mount-namespaces.ts';
import type { PlacedMount } from '../mounts/mount-places.ts';
import { leftoverFolders } from './leftover-folders.ts';
import { type TeardownFailures, teardownFailures } from './teardown-failures.ts';

/** What the kubelet's log says of failed teardowns, and who holds what it could not remove. */
export interface TeardownLog extends TeardownFailures {
  /** Mounts on such a volume's folder that another namespace has, by that folder. */
  readonly holders: ReadonlyMap<string, readonly PlacedMount[]>;
  /** Until when the log goes; absent when no line of it has a time. */
  readonly until?: Date;
}

export const teardownLog = defineEvidence<TeardownLog>({
  id: 'teardown-log',
  title: 'Log lines about volumes that the kubelet could not tear down',
  command: 'journalctl -u kubelet --no-pager',
  isDerived: true,
  collect: async (snapshot) => {
    const log = await snapshot.of(kubeletLog);
    const until = endOfLog(log);
    const reported = { ...teardownFailures(log.entries), ...(until ? { until } : {}) };
    const busy = reported.failures.filter(({ error }) => error === 'busy');
    // Where the folders themselves can be read, so can whatever is mounted on them.
    const isSeen = busy.length > 0 && (await attempt(snapshot.of(leftoverFolders))).known;
    if (busy.length === 0 || isSeen) return { ...reported, holders: new Map() };
    const tables = await attempt(snapshot.of(mountNamespaces));
    const namespaces = tables.known ? tables.value.namespaces : [];
    const holders = new Map<string, readonly PlacedMount[]>();
    for (const { path } of busy) {
      // A pod's uid is in the path, so its end is enough: other namespaces have it at /host/...
      const end = path.slice(path.lastIndexOf('/pods/'));
      const held = namespaces.flatMap((namespace) =>
        namespace.table.mounts
          .filter(({ target }) => target.endsWith(end) && target !== path)
          .map((mount) => ({ namespace, mount })),
      );
      if (held.length > 0) holders.set(path, held);
    }
    return { ...reported, holders };
  },
});
