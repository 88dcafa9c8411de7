import { defined } from '../../../lib/std/defined.ts';
import type { MountProbe } from '../../evidence/mounts/mount-probes.ts';
import type { PodLife } from '../../evidence/pods/orphan-pods.ts';
import type { Finding, Step } from '../../model/finding.ts';
import type { Elsewhere } from './loop.ts';
import type { DeadVolumeMount, Reason } from './messages.ts';

/** What was seen beside the fault, or in its place: nothing of it is ours to repair. */

type Note = Finding<DeadVolumeMount>;

export function elsewhereNote({ cause, advice, proof }: Elsewhere): Note {
  return {
    ...NOTE,
    reason: 'SyncLoopBlockedElsewhere' satisfies Reason,
    summary: `The kubelet's sync loop does not move, but not because of a mount: ${cause}.`,
    subject: {},
    proof: [proof],
    blastRadius: 'not this fault; while it lasts, new pods stay Pending all the same',
    alternatives: [{ text: advice }],
    pins: { podUid: '', device: '', fsType: '', mounts: [] },
  };
}

export function corruptedNote(probe: MountProbe, error: string): Note {
  return {
    ...note(probe, 'MountAnswersWithError'),
    summary:
      `The mount ${probe.suspect.mount.target} answers with ${error}: what it stands for is gone, ` +
      'but nobody hangs on it, so the sync loop is not blocked by it.',
    proof: [{ claim: `it answers, with ${error}`, origin: probe.origin }],
    blastRadius: 'processes that use this volume get errors',
    alternatives: [
      { text: 'if its pod runs, restart the pod; if nobody needs it, unmount it manually' },
    ],
  };
}

const NOTE = { state: 'benign', excluded: [] } as const;

function note({ suspect }: MountProbe, reason: Reason) {
  const { id, parent, device, root, target, fsType } = suspect.mount;
  const podUid = suspect.pod?.podUid ?? '';
  return {
    ...NOTE,
    reason,
    subject: { ...(podUid ? { podUid } : {}), mount: target },
    pins: { podUid, device, fsType, mounts: [{ id, parent, root, target }] },
  };
}

/** Volumes of running pods: we repair none of them, and report all. */

type LiveProbe = MountProbe & { readonly life: PodLife & { readonly state: 'live' } };

/** One for each filesystem of each pod: all its mounts are dead together. */
export function liveFindings(probes: readonly MountProbe[]): readonly Finding<DeadVolumeMount>[] {
  const groups = Map.groupBy(
    probes.filter(isBrokenAndLive),
    ({ suspect }) => `${suspect.mount.device} ${suspect.pod?.podUid}`,
  );
  return [...groups.values()].flatMap((group) => {
    const main = group.find(({ suspect }) => suspect.pod?.plugin !== undefined) ?? group[0];
    return main ? [liveFinding(main, group)] : [];
  });
}

export function isBrokenAndLive(probe: MountProbe): probe is LiveProbe {
  const { result, life } = probe;
  if (life?.state !== 'live') return false;
  return result.state === 'dead' || (result.state === 'corrupted' && !PASSES.has(result.error));
}

/** "Try again" is said by a server that is busy, too. */
const PASSES: ReadonlySet<string> = new Set(['EAGAIN', 'EWOULDBLOCK']);

function liveFinding(main: LiveProbe, group: readonly LiveProbe[]): Finding<DeadVolumeMount> {
  const { suspect, life, result, origin, podName, podPhase } = main;
  const { mount } = suspect;
  const { podUid = '', volume } = suspect.pod ?? {};
  const name = podName ? `${podName.namespace}/${podName.name}` : podUid;
  const isDead = result.state === 'dead';
  const error = result.state === 'corrupted' ? result.error : '';
  const how = isDead ? 'does not answer' : `answers every call with ${error}`;
  const why = podPhase ? 'The pod still exists' : 'It is in use';
  return {
    state: 'active',
    reason: (isDead ? 'VolumeOfLivePodHangs' : 'VolumeOfLivePodFails') satisfies Reason,
    summary:
      `A volume of the ${podPhase ?? 'running'} pod ${name} is dead: its server ${mount.source} ` +
      `(${mount.fsType}) ${how}. ${why}, so it is not touched: ${mount.target}`,
    subject: defined({
      ...(podName ? { namespace: podName.namespace, pod: podName.name } : {}),
      podUid,
      volume,
      mount: mount.target,
      path: mount.source,
    }),
    proof: [
      { claim: `it ${how}`, ...(isDead ? { text: result.text } : {}), origin },
      { claim: `its pod ${podPhase ? 'exists' : 'runs'}: ${life.by}`, origin: life.origin },
    ],
    blastRadius: isDead
      ? 'every process that uses its files hangs: the pod, backup and monitoring, and the unmount when the pod is deleted'
      : 'the pod that uses it gets errors',
    excluded: [
      podPhase
        ? 'a volume of a deleted pod: this one still exists'
        : 'a volume of a deleted pod: this one runs and needs it',
    ],
    refusal: podPhase
      ? `this volume is of a ${podPhase} pod, which the kubelet cleans up itself: to unmount it would lose what is not yet written`
      : 'a running pod uses this volume: to unmount it would break the pod, and lose what it has not yet written',
    alternatives: isDead ? curesOfHang(main) : curesOfErrors(main),
    pins: {
      podUid,
      device: mount.device,
      fsType: mount.fsType,
      mounts: group.map((one) => {
        const { id, parent, root, target } = one.suspect.mount;
        return { id, parent, root, target };
      }),
    },
  };
}

/** No deletion: the kubelet would unmount the volume, and hang as the orphans of this fault make it. */
function curesOfHang({ suspect: { mount }, podPhase }: LiveProbe): readonly Step[] {
  const then = podPhase === 'terminating' ? 'the kubelet ends the deletion' : 'the pod goes on';
  return [
    'risk: while the server does not answer, do not unmount the volume and do not delete the pod, with or without --force: the unmount hangs, the kubelet itself may hang on it, and what was not yet written is lost',
    `bring the server back: ${mount.source} (${mount.fsType}); then ${then} by itself`,
    'only if the server never comes back: move the other pods to other nodes (kubectl drain) and reboot this node; what was not yet written is lost',
  ].map((text) => ({ text }));
}

function curesOfErrors({ suspect, podName, podPhase }: LiveProbe): readonly Step[] {
  const { mount } = suspect;
  const then = podPhase
    ? 'then the kubelet can clean up the pod'
    : 'then restart the pod, which mounts the volume again';
  return [
    {
      text: 'risk: do not unmount the volume, and do not delete the pod with --force: what was not yet written is lost',
    },
    { text: `bring the server back: ${mount.source} (${mount.fsType}); ${then}` },
    ...(podName && !podPhase
      ? [
          {
            text: 'to restart the pod, if a controller recreates it:',
            command: `kubectl --namespace ${podName.namespace} delete pod ${podName.name}`,
          },
        ]
      : []),
  ];
}
