import { kubeletLog } from '../../evidence/logs/kubelet-log.ts';
import { volumeMetadata } from '../../evidence/volumes/volume-metadata.ts';
import { optional } from '../../model/evidence.ts';
import { defineFault } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { reasons } from './messages.ts';
import { hasHealed, recover } from './recover.ts';

export const orphanedVolumeMetadata = defineFault({
  id: 'orphaned-volume-metadata',
  title: 'The file of a CSI volume is left of a pod that is gone',
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
      behaviour: 'cannot remove the folder of the pod, and says so every two seconds',
    },
  ],
  reasons,
  needs: { metadata: optional(volumeMetadata), log: optional(kubeletLog) },
  diagnose,
  recover,
  hasHealed,
});
