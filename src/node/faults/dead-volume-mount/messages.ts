import { counted } from '../../../lib/std/counted.ts';
import { defined } from '../../../lib/std/defined.ts';
import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { verificationNote } from '../../evidence/kubelet/verified-version.ts';
import { entriesOf, type KubeletLog } from '../../evidence/logs/log-entries.ts';
import type { MountTable } from '../../evidence/mounts/mount-table.ts';
import { orphanProof } from '../../evidence/pods/orphan-messages.ts';
import type { DeadMountStacks } from '../../evidence/stacks/dead-mount-stacks.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Finding, Proof, Subject } from '../../model/finding.ts';
import type { DeadMount, StuckThread } from './dead-mount.ts';
import { type Loop, minutesOf } from './loop.ts';
import { howToSettle, otherCaller, stackProof } from './stack-messages.ts';

/** Names the mounts as they were diagnosed: all that a forced unmount is pinned to. */
export interface DeadVolumeMount {
  readonly podUid: string;
  readonly device: string;
  readonly fsType: string;
  /** The inner ones first; none when the path is not known. */
  readonly mounts: readonly {
    readonly id: number;
    readonly parent: number;
    readonly root: string;
    readonly target: string;
  }[];
}

export const reasons = {
  SyncLoopBlocked: "The kubelet's sync loop waits on this dead mount of an orphaned pod.",
  SyncLoopBlockedSomewhere:
    'The sync loop waits among the orphaned pods, on a mount that is not known here.',
  SyncLoopWillBlock:
    'The kubelet will hang on this dead mount as soon as it cleans up the orphaned pod.',
  ThreadStuck:
    'The kubelet has waited on this dead mount for five minutes or more, and nothing shows that its sync loop moves.',
  ThreadWaits: 'The kubelet waits on this dead mount; whether its sync loop does is not proven.',
  NotTouchedByKubelet: 'This kubelet checks such a mount without contacting its server.',
  SyncLoopBlockedElsewhere: 'The sync loop is blocked by something else.',
  VolumeOfLivePodHangs: 'A volume of a pod that still exists does not answer.',
  VolumeOfLivePodFails: 'A volume of a pod that still exists answers every call with an error.',
  MountAnswersWithError: 'A mount is broken, but it answers, so nobody hangs on it.',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;

export interface Seen {
  readonly loop: Loop;
  readonly table: MountTable;
  readonly log: Maybe<KubeletLog>;
  readonly version?: Maybe<KubeletVersion> | undefined;
  readonly stacks: Maybe<DeadMountStacks>;
}

const STALLED =
  'new pods of this node stay Pending, and no pod is changed or cleaned up; running containers continue';

const NO_CURE =
  'a case for a restart of the kubelet or umount -l: a restarted kubelet hangs again, and umount -l ' +
  'does not release threads that wait already';

export function activeFinding(mount: DeadMount, seen: Seen): Finding<DeadVolumeMount> {
  const { loop } = seen;
  return {
    ...common(mount),
    state: 'active',
    reason: 'SyncLoopBlocked' satisfies Reason,
    summary:
      `The kubelet's sync loop hangs on the dead ${mount.main.fsType} mount of the ` +
      `deleted pod ${mount.podUid}: ${mount.main.target}.${sinceOf(loop)} New pods stay ` +
      'Pending; running pods continue.',
    proof: [
      ...stackProof(mount),
      ...loopProof(loop),
      ...mountProof(mount, seen),
      ...earlier(mount, seen.log),
    ],
    blastRadius: STALLED,
    excluded: [
      'a device plugin, the runtime, the API server or a lock: the kubelet waits on this path',
      notOfLivingPod(mount),
      'a mount that is only slow: the second of two probes waited longer, and got no answer either',
      NO_CURE,
    ],
  };
}

/** No page, log or stack shows the loop, but earlier checks saw the same call. */
export function stuckFinding(
  mount: DeadMount,
  { seenFor }: StuckThread,
  seen: Seen,
): Finding<DeadVolumeMount> {
  const long = minutesOf(seenFor.ms);
  const shared = common(mount);
  return {
    ...shared,
    state: 'active',
    reason: 'ThreadStuck' satisfies Reason,
    summary:
      `The kubelet has waited for ${long} or more on the dead ${mount.main.fsType} mount of the ` +
      `deleted pod ${mount.podUid}: ${mount.main.target}. The sync loop waits there when it cleans ` +
      'up, and nothing shows that it moves.',
    proof: [...mountProof(mount, seen), ...earlier(mount, seen.log)],
    blastRadius: `if it is the sync loop: ${STALLED}`,
    excluded: [
      'statistics of the volume: they are another call',
      notOfLivingPod(mount),
      'a mount that is only slow: the call has not returned in all that time',
      NO_CURE,
    ],
    alternatives: [
      ...shared.alternatives,
      {
        text:
          'to repair it, name it (kubediag recover dead-volume-mount --finding ID): a single check ' +
          'does not see how long it waits',
      },
    ],
  };
}

export function latentFinding(mount: DeadMount, seen: Seen): Finding<DeadVolumeMount> {
  const [thread] = mount.threads;
  const shared = common(mount);
  const where = `${mount.main.fsType} mount ${mount.main.target} of the deleted pod ${mount.podUid}`;
  const proof = [...mountProof(mount, seen), ...earlier(mount, seen.log)];
  const excluded = [notOfLivingPod(mount)];
  if (!thread) {
    return {
      ...shared,
      state: 'latent',
      reason: 'SyncLoopWillBlock' satisfies Reason,
      summary: `The ${where} is dead: the kubelet will hang on it at its next clean-up, at the latest after a restart.`,
      proof,
      blastRadius: `nothing yet; then ${STALLED}`,
      excluded,
    };
  }
  const other = otherCaller(mount);
  return {
    ...shared,
    state: 'latent',
    reason: 'ThreadWaits' satisfies Reason,
    summary:
      `The kubelet waits on the dead ${where}. ` +
      (other
        ? `The waiting thread is not the sync loop, but ${other}.`
        : 'It is not proven yet that the waiting thread is the sync loop.'),
    proof: [...stackProof(mount), ...proof],
    blastRadius: other ? `nothing yet; then ${STALLED}` : `if it is the sync loop: ${STALLED}`,
    excluded,
    alternatives: [...shared.alternatives, ...(other ? [] : [{ text: howToSettle(seen.stacks) }])],
  };
}

export function benignFinding(mount: DeadMount, seen: Seen): Finding<DeadVolumeMount> {
  const version = seen.version?.known ? seen.version.value.text : '';
  return {
    ...common(mount),
    state: 'benign',
    reason: 'NotTouchedByKubelet' satisfies Reason,
    summary:
      `The mount ${mount.main.target} of the deleted pod ${mount.podUid} is dead; kubelet ` +
      `${version} checks it without contacting its server, so its sync loop does not hang there.`,
    proof: [...mountProof(mount, seen), ...passesByProof(seen.version)],
    blastRadius: 'other processes that read it hang: df, backup and monitoring',
    excluded: [],
  };
}

function passesByProof(version: Seen['version']): readonly Proof[] {
  if (!version?.known) return [];
  const { text, origin } = version.value;
  const claim = `kubelet ${text} checks it without contacting its server (1.30 and newer do)`;
  return [{ claim: `${claim}${verificationNote(version.value)}`, origin }];
}

/** A dump or a log that shows the fault, but not the mount. */
export function pathlessFinding(loop: Loop, log: Maybe<KubeletLog>): Finding<DeadVolumeMount> {
  const [failed] = log.known ? entriesOf(log.value, 'unmount-failed', 'teardown-failed') : [];
  const args = failed
    ? [{ claim: 'an unmount that failed before', text: failed.text, origin: failed.origin }]
    : [];
  return {
    state: 'active',
    reason: 'SyncLoopBlockedSomewhere' satisfies Reason,
    summary:
      "The kubelet's sync loop hangs while it checks the volumes of deleted pods; the mount is not " +
      `known.${sinceOf(loop)}`,
    subject: {},
    proof: [...loopProof(loop), ...args],
    blastRadius: STALLED,
    excluded: [],
    alternatives: [
      {
        text: 'on the node: kubediag check dead-volume-mount names the mount, without any credential',
      },
    ],
    prevention: PREVENTION,
    pins: { podUid: '', device: '', fsType: '', mounts: [] },
  };
}

const PREVENTION = [
  'let the volume be unmounted before its server goes away, and delete no pod by force while it is',
  'watch /healthz of port 10250, or the syncloop check: port 10248 stays "ok" while the loop is dead',
];

function common({ main, mounts, podUid, volume, mustName }: DeadMount) {
  const pinned = mounts.map(({ id, parent, root, target }) => ({ id, parent, root, target }));
  const subject: Subject = defined({ podUid, volume, mount: main.target, path: main.source });
  return {
    subject,
    alternatives: [
      {
        text: `bring the server back: ${main.source} (${main.fsType}); then the kubelet recovers by itself`,
      },
    ],
    prevention: PREVENTION,
    ...(mustName.length > 0 ? { mustName } : {}),
    pins: {
      podUid,
      device: main.device,
      fsType: main.fsType,
      mounts: pinned,
    },
  };
}

function notOfLivingPod({ life }: DeadMount): string {
  const who = life.needsConfirmation === undefined ? 'no source' : 'no source that could be asked';
  return `a volume of an existing pod: ${who} lists this pod any more`;
}

/** What shows the standstill, and what shows where it is; each once. */
function loopProof({ still, amongOrphans }: Loop): readonly Proof[] {
  return [...new Set([...(amongOrphans ? [amongOrphans] : []), ...still])];
}

function mountProof(mount: DeadMount, { table }: Seen): readonly Proof[] {
  const { main, threads, life, probe, waiting } = mount;
  return [
    ...threads.map(({ tid, text, origin, seenFor }) => ({
      claim:
        `thread ${tid} of the kubelet waits on it` +
        (seenFor ? `, seen in the same call since ${stamp(seenFor.since)}` : ''),
      text,
      origin,
    })),
    {
      claim: `it is mounted from ${main.source}, as the kubelet sees it`,
      text: table.lineText(main),
      origin: { ...table.origin, line: main.line },
    },
    { claim: 'it does not answer', text: probe.text, origin: probe.origin },
    ...(waiting === undefined
      ? []
      : [
          {
            claim: `${counted(waiting, 'request waits', 'requests wait')} for its server`,
            origin: { source: 'fusectl' },
          },
        ]),
    ...orphanProof(life),
    {
      claim: 'df shows nothing of it, or hangs too: it asks the server, the mount table does not',
      origin: table.origin,
    },
  ];
}

/** The unmount that failed when the pod was deleted, if the log still has it. */
function earlier({ podUid, main }: DeadMount, log: Maybe<KubeletLog>): readonly Proof[] {
  if (!log.known) return [];
  const entry = entriesOf(
    log.value,
    'unmount-failed',
    'teardown-failed',
    'unmounter-failed',
    'reconstruction-failed',
  ).findLast(({ text }) => text.includes(podUid) || text.includes(main.target));
  if (!entry) return [];
  const at = entry.time ? ` at ${stamp(entry.time)}` : '';
  return [{ claim: `its unmount failed before${at}`, text: entry.text, origin: entry.origin }];
}

function sinceOf({ since, still }: Loop): string {
  if (!since || still.length === 0) return '';
  return ` The last line of its sync loop in the log is of ${stamp(since)}.`;
}

function stamp(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
