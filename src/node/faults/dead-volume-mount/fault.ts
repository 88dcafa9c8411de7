import { health } from '../../evidence/kubelet/health.ts';
import { kubelet } from '../../evidence/kubelet/kubelet.ts';
import { kubeletLog } from '../../evidence/logs/kubelet-log.ts';
import { mountProbes } from '../../evidence/mounts/mount-probes.ts';
import { blockedThreads, seenWaits } from '../../evidence/stacks/blocked-threads.ts';
import { deadMountStacks } from '../../evidence/stacks/dead-mount-stacks.ts';
import { syncLoopDump } from '../../evidence/stacks/sync-loop-dump.ts';
import { optional } from '../../model/evidence.ts';
import { defineFault, type LooseText } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { type Reason, reasons } from './messages.ts';
import { hasHealed, recover } from './recover.ts';

/** Only a person can cure these, and the kubelet's clean-up does not wait for them. */
const OF_LIVE_PODS: readonly Reason[] = ['VolumeOfLivePodHangs', 'VolumeOfLivePodFails'];

export const deadVolumeMount = defineFault({
  id: 'dead-volume-mount',
  title: 'A dead mount of a deleted pod blocks the kubelet, or will',
  severity: 'broken',
  stage: 'stable',
  references: [
    'https://github.com/kubernetes/kubernetes/issues/100803',
    'https://github.com/kubernetes/kubernetes/pull/119968',
  ],
  affected: [
    {
      component: 'kubelet',
      versions: '1.13.0 to 1.29.x, and older ones in part',
      behaviour: 'hangs on a dead mount of any network or FUSE volume of an orphaned pod',
    },
    {
      component: 'kubelet',
      versions: '1.30.0 and newer',
      behaviour: 'hangs on a dead CSI mount only; it checks others without contacting their server',
    },
  ],
  reasons,
  needs: {
    kubelet: optional(kubelet),
    // Any of these can be enough: a colleague may have sent but one of them.
    probes: optional(mountProbes),
    threads: optional(blockedThreads),
    health: optional(health),
    log: optional(kubeletLog),
    dump: optional(syncLoopDump),
    stacks: optional(deadMountStacks),
  },
  options: [seenWaits],
  suspicions: { quoted: ['sync-loop-unhealthy'], task: waitingThread },
  diagnose,
  recover,
  hasHealed,
  healedMeans: 'no thread of the kubelet waits there any more',
  before: [
    {
      fault: 'kubelet-not-running',
      on: 'node',
      why: 'a kubelet that starts may hang on the dead mount',
      unless: OF_LIVE_PODS,
    },
    {
      fault: 'orphaned-volume-metadata',
      on: 'pod',
      why: 'leftovers of a volume are reported only once nothing of it is mounted',
    },
    {
      fault: 'leftover-volume-directory',
      on: 'node',
      why: 'a kubelet whose sync loop hangs cleans up nothing',
      unless: OF_LIVE_PODS,
    },
  ],
});

// --- /proc/812/task/840, as the collector writes above what it saw of each thread of the kubelet
const TASK = /^--- \/proc\/\d+\/task\/(\d+)$/m;

// wchan: request_wait_answer, rpc_wait_bit_killable, ceph_mdsc_wait_request
const WAIT =
  /^wchan: *(\w*(?:request_wait_answer|fuse|rpc_wait|nfs4?_|ceph_|cifs_|smb2?_|wait_on_commit)\w*)/m;

/** Seen once, a waiting thread proves no hang: a healthy kubelet waits for a moment, too. */
function waitingThread({ whole }: Pick<LooseText, 'whole'>): string | undefined {
  for (const task of whole.split(/^(?=--- \/proc\/)/m)) {
    const wait = WAIT.exec(task)?.[1];
    if (wait === undefined) continue;
    const thread = TASK.exec(task)?.[1];
    const who = thread === undefined ? 'a thread' : `thread ${thread} of the kubelet`;
    return `shows ${who} waiting for a filesystem, in ${wait}, but not on which path, nor for how long`;
  }
  return undefined;
}
