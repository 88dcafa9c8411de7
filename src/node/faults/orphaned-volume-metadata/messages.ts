import type { LogEntry } from '../../evidence/logs/log-entries.ts';
import { orphanProof } from '../../evidence/pods/orphan-messages.ts';
import type { LeftMetadata } from '../../evidence/volumes/volume-metadata.ts';
import type { Finding, Proof, Subject } from '../../model/finding.ts';

/** Names the file as it was diagnosed. */
export interface OrphanedVolumeMetadata {
  readonly podUid: string;
  readonly volume: string;
  readonly inode: string;
}

export const reasons = {
  KubeletComplains:
    'The kubelet cannot remove the directory of the pod, and says so every 2 seconds.',
  FolderCannotBeRemoved: 'The kubelet cannot remove the directory of the pod because of this file.',
} as const satisfies Record<string, string>;

type Reason = keyof typeof reasons;

export function findingOf(
  left: LeftMetadata,
  complaint: LogEntry | undefined,
): Finding<OrphanedVolumeMetadata> {
  const { podUid, volume, inode, folder, life } = left;
  const isProvenGone = life.state !== 'orphan' || life.needsConfirmation === undefined;
  const reason: Reason = complaint ? 'KubeletComplains' : 'FolderCannotBeRemoved';
  const noise = complaint ? ', and says so every 2 seconds' : '';
  return {
    state: complaint ? 'active' : 'latent',
    reason,
    summary:
      `vol_data.json of CSI volume "${volume}" of the deleted pod ${podUid} was left behind; the ` +
      `kubelet cannot remove the directory because of it${noise}.`,
    subject: subjectOf(left),
    proof: proofOf(left, complaint),
    blastRadius: 'a log that fills, and a directory that stays; no pod and no data is harmed',
    excluded: [
      'a volume that is still mounted: no namespace has anything mounted there',
      'data in the directory: this file is alone, but for an empty mount directory',
      `a case for rm -rf ${folder}: were it mounted after all, its data would be gone`,
    ],
    alternatives: [],
    prevention: [
      'let pods with CSI volumes end by themselves; a forced deletion leaves this behind',
    ],
    pins: { podUid, volume, inode },
    ...(isProvenGone ? {} : { mustName: [podUid] }),
  };
}

export function subjectOf({ podUid, volume, folder }: LeftMetadata): Subject {
  return { podUid, volume, path: `${folder}/vol_data.json` };
}

function proofOf(left: LeftMetadata, complaint: LogEntry | undefined): readonly Proof[] {
  const { life, origin, ageMs } = left;
  const minutes = Math.round(ageMs / 60_000);
  const file: Proof = {
    claim: `vol_data.json is all that is there, unchanged for ${minutes} min; nothing is mounted`,
    origin,
  };
  const said = complaint
    ? [{ claim: 'the kubelet complains', text: complaint.text, origin: complaint.origin }]
    : [];
  if (life.state !== 'orphan') return [...said, file];
  return [...said, file, ...orphanProof(life)];
}
