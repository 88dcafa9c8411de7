import { defineEvidence } from '../../model/evidence.ts';
import type { LogSignature } from '../../model/log-signature.ts';
import { kubeletLog } from '../logs/kubelet-log.ts';
import { entriesOf, type LogEntry } from '../logs/log-entries.ts';
import { fieldsIn } from '../logs/log-signatures.ts';
import { containerStatuses } from './container-statuses.ts';

/** A kubelet logs it at each sync of the pod while it waits. */
export const BACK_OFF: LogSignature = {
  id: 'restart-back-off',
  log: 'kubelet',
  literals: ['restarting failed container='],
  patterns: [
    // back-off 20s restarting failed container=app pod=web-0_default(29da79e5-386c-4e0d-82c1-215f93ff955d)
    /back-off \S+ restarting failed container=(?<container>\S+) pod=[^\s(]+\((?<podUid>[^)\s]+)\)/,
  ],
  example:
    'E1118 08:14:30.120000     812 pod_workers.go:191] Error syncing pod ' +
    '29da79e5-386c-4e0d-82c1-215f93ff955d ("web-0_default(29da79e5-386c-4e0d-82c1-215f93ff955d)"), ' +
    'skipping: failed to "StartContainer" for "app" with CrashLoopBackOff: "back-off 20s restarting ' +
    'failed container=app pod=web-0_default(29da79e5-386c-4e0d-82c1-215f93ff955d)"',
};

/**
 * Messages of a kubelet that waits before it restarts a container. The log is read only if a container
 * of a pod with a lost mount has ended by itself, because the log may be long.
 */
export const restartBackOffs = defineEvidence<readonly LogEntry[]>({
  id: 'restart-back-offs',
  title: 'Containers that the kubelet waits to restart',
  isDerived: true,
  collect: async (snapshot) => {
    const statuses = await snapshot.of(containerStatuses);
    const hasEnded = [...statuses.values()].some(
      ({ state, message }) => state === 'exited' && message === '',
    );
    if (!hasEnded) return [];
    const log = await snapshot.of(kubeletLog);
    // Without its time zone, a message about an earlier restart could pass for a new one.
    return log.sources.every(({ isZoneKnown }) => isZoneKnown) ? entriesOf(log, BACK_OFF) : [];
  },
});

/** Whether a text of the kubelet says that it waits before it restarts this container. */
export function saysBackOff(text: string, podUid: string, container: string): boolean {
  const fields = fieldsIn(text, BACK_OFF);
  return fields?.podUid === podUid && fields.container === container;
}
