import { attempt, defineEvidence } from '../../model/evidence.ts';
import { kubeletLog } from '../logs/kubelet-log.ts';
import { endOfLog } from '../logs/log-entries.ts';
import { mountNamespaces } from '../mounts/mount-namespaces.ts';
import type { PlacedMount } from '../mounts/mount-places.ts';
import { leftoverFolders } from './leftover-folders.ts';
import { type TeardownFailures, teardownFailures } from './teardown-failures.ts';

/** The failed teardowns in the kubelet's log, and the mounts that keep a volume busy. */
export interface TeardownLog extends TeardownFailures {
  /** Mounts on such a volume's directory in other namespaces, by directory. */
  readonly holders: ReadonlyMap<string, readonly PlacedMount[]>;
  /** The end of the log; not set if no line has a time. */
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
    // If the directories can be read, so can the mounts on them.
    const isSeen = busy.length > 0 && (await attempt(snapshot.of(leftoverFolders))).known;
    if (busy.length === 0 || isSeen) return { ...reported, holders: new Map() };
    const tables = await attempt(snapshot.of(mountNamespaces));
    const namespaces = tables.known ? tables.value.namespaces : [];
    const holders = new Map<string, readonly PlacedMount[]>();
    for (const { path } of busy) {
      // The path contains the pod's uid, so its end is enough: other namespaces have it below
      // /host.
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
