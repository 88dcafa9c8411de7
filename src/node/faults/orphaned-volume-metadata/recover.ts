import { orphanConfirmation } from '../../evidence/pods/orphan-messages.ts';
import type { Recovery } from '../../model/fault.ts';
import type { Finding } from '../../model/finding.ts';
import type { Evidence } from './diagnose.ts';
import type { OrphanedVolumeMetadata } from './messages.ts';

/** The file is preserved elsewhere; then the kubelet removes the empty directories itself. */
export function recover(finding: Finding<OrphanedVolumeMetadata>): Recovery {
  const { podUid, volume, inode } = finding.pins;
  return {
    actions: [{ kind: 'set-aside', podUid, volume, inode }],
    touches: `1 file, vol_data.json of volume "${volume}" of pod ${podUid}: it is moved`,
    leaves: 'all data, all mounts and every other file; nothing is deleted but empty directories',
    afterwards:
      'the kubelet removes the directory of the pod within seconds, and stops complaining',
    ...orphanConfirmation(finding),
  };
}

export function hasHealed(
  { pins }: Finding<OrphanedVolumeMetadata>,
  { metadata }: Evidence,
): boolean {
  return metadata.known && !metadata.value.left.some(({ podUid }) => podUid === pins.podUid);
}
