import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';
import { goroutines } from '../kubelet/goroutines.ts';
import { health } from '../kubelet/health.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { kubeletLog } from '../logs/kubelet-log.ts';
import { entriesOf } from '../logs/log-entries.ts';
import { mountProbes } from '../mounts/mount-probes.ts';
import { blockedThreads } from './blocked-threads.ts';
import { type SyncLoop, syncLoopIn } from './sync-loop.ts';

/** The state of the sync loop according to the kubelet's own stacks. */
export type SyncLoopDump =
  | { readonly isAsked: true; readonly loop: SyncLoop; readonly origin: Origin }
  /** There was no reason to pause the kubelet for a dump. */
  | { readonly isAsked: false };

export const syncLoopDump = defineEvidence<SyncLoopDump>({
  id: 'sync-loop-dump',
  title: 'What the sync loop of the kubelet is doing',
  command: 'kubectl get --raw /api/v1/nodes/NODE/proxy/debug/pprof/goroutine?debug=2',
  isDerived: true,
  collect: async (snapshot) => {
    const here = await attempt(snapshot.of(kubelet));
    // With a submitted text instead of a process, reading it pauses no kubelet.
    if (here.known && here.value.process && !(await isSuspicious(snapshot)))
      return { isAsked: false };
    const { dump, origin } = await snapshot.of(goroutines);
    return { isAsked: true, loop: syncLoopIn(dump), origin };
  },
});

async function isSuspicious(snapshot: Snapshot): Promise<boolean> {
  const [healthy, waiting, probed, said] = await Promise.all([
    attempt(snapshot.of(health)),
    attempt(snapshot.of(blockedThreads)),
    attempt(snapshot.of(mountProbes)),
    attempt(snapshot.of(kubeletLog)),
  ]);
  const isDead = probed.known && probed.value.probes.some(({ result }) => result.state === 'dead');
  const isHung = probed.known && waiting.known && probed.value.homeless.length > 0;
  const isFailing = healthy.known && healthy.value.loop === 'failing';
  const isMentioned = said.known && entriesOf(said.value, ...COMPLAINTS).length > 0;
  return isDead || isHung || isFailing || isMentioned;
}

const COMPLAINTS = ['sync-loop-unhealthy', 'event-channel-full'] as const;
