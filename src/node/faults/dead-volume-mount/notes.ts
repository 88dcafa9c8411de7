import type { MountProbe } from '../../evidence/mounts/mount-probes.ts';
import type { Finding } from '../../model/finding.ts';
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
