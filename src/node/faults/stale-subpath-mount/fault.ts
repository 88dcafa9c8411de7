import { containerStatuses } from '../../evidence/containers/container-statuses.ts';
import { containers } from '../../evidence/containers/containers.ts';
import { BACK_OFF, restartBackOffs } from '../../evidence/containers/restart-back-offs.ts';
import { startRefusals } from '../../evidence/containers/start-refusals.ts';
import { kubelet } from '../../evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { mountTable } from '../../evidence/mounts/mount-table.ts';
import { pods } from '../../evidence/pods/pods.ts';
import { optional } from '../../model/evidence.ts';
import { defineFault, type LooseText } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { reasons } from './messages.ts';
import { hasHealed, recover } from './recover.ts';
import { redactMountError } from './redact-message.ts';

export const staleSubpathMount = defineFault({
  id: 'stale-subpath-mount',
  title: 'A subPath volume is mounted from a file that was deleted',
  severity: 'broken',
  stage: 'stable',
  references: ['https://github.com/kubernetes/kubernetes/issues/68211'],
  affected: [
    {
      component: 'kubelet',
      versions: '1.10.0 to 1.18.x, and 1.7.14, 1.8.9, 1.9.4 and newer patches of those',
      behaviour: 'the container cannot be started again until the mount is gone',
    },
    {
      component: 'kubelet',
      versions: '1.19.0 and newer',
      behaviour: 'mounts the volume again before each start: harmless',
    },
  ],
  processor: 'subpathRemount',
  reasons,
  needs: {
    kubelet,
    version: optional(kubeletVersion),
    // Without these no node is clear of it; what is left may still name a suspicion.
    mounts: optional(mountTable),
    containers: optional(containers),
    statuses: optional(containerStatuses),
    refusals: startRefusals,
    // Without the log, a container that waits for its restart is latent.
    backOffs: optional(restartBackOffs),
    // The kubelet's list shows which containers should run; the runtime shows which do.
    pods: optional(pods),
  },
  logSignatures: [BACK_OFF],
  suspicions: { 'plain-mounts': lostSource },
  redactMessage: redactMountError,
  diagnose,
  recover,
  hasHealed,
  healedMeans: 'the container runs',
});

// /var/lib/kubelet/pods/29da79e5-.../volume-subpaths/conf/app/1 /dev/vda1[/pods/.../app.conf//deleted]
const LOST_SOURCE = /(\/\S*\/volume-subpaths\/\S+)\s+\S*\[[^\]\n]*\/\/deleted\]/;

/** A list of mounts that is no mount table shows the deleted source, but not the volume. */
function lostSource({ text }: LooseText): string | undefined {
  const lost = LOST_SOURCE.exec(text)?.[1];
  if (lost === undefined) return undefined;
  return `shows a deleted source at ${lost}, but not which volume it belonged to`;
}
