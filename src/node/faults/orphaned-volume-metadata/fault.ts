import { kubeletLog } from '../../evidence/logs/kubelet-log.ts';
import { minimumAge } from '../../evidence/volumes/minimum-age.ts';
import { volumeMetadata } from '../../evidence/volumes/volume-metadata.ts';
import { optional } from '../../model/evidence.ts';
import { defineFault } from '../../model/fault.ts';
import type { LogSignature } from '../../model/log-signature.ts';
import { diagnose } from './diagnose.ts';
import { reasons } from './messages.ts';
import { hasHealed, recover } from './recover.ts';

/** What a CSI volume was is lost: its file is missing, empty or garbled. */
const METADATA_FAILED: LogSignature = {
  id: 'volume-metadata-failed',
  log: 'kubelet',
  literals: ['vol_data.json'],
  patterns: [
    // kubernetes.io/csi: failed to open volume data file [/var/.../vol_data.json]: open /var/...
    /failed to (?<operation>\w+) volume data file \[(?<path>[^\]]+)\]: (?:open \/\S+: )?(?<error>[^"\n]+)/,
    // open /var/.../kubernetes.io~csi/pvc-45f3/vol_data.json: no such file or directory
    /(?<operation>open|read|stat|lstat) (?<path>\/[^\s"]*vol_data\.json): (?<error>[^"\n]+)/,
  ],
};

export const orphanedVolumeMetadata = defineFault({
  id: 'orphaned-volume-metadata',
  title: 'A CSI volume file of a deleted pod was left behind',
  severity: 'degraded',
  stage: 'stable',
  references: [
    'https://github.com/kubernetes/kubernetes/issues/60987',
    'https://github.com/kubernetes/kubernetes/issues/72346',
  ],
  affected: [
    {
      component: 'kubelet',
      versions: '1.13.0 and newer',
      behaviour: 'cannot remove the directory of the pod, and says so every two seconds',
    },
  ],
  reasons,
  needs: { metadata: optional(volumeMetadata), log: optional(kubeletLog) },
  options: [minimumAge],
  logSignatures: [METADATA_FAILED],
  suspicions: { quoted: [METADATA_FAILED.id] },
  diagnose,
  recover,
  hasHealed,
});
