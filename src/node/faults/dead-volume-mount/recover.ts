import { counted } from '../../../lib/std/counted.ts';
import { orphanConfirmation } from '../../evidence/pods/orphan-messages.ts';
import type { Recovery } from '../../model/fault.ts';
import type { Finding } from '../../model/finding.ts';
import type { Evidence } from './diagnose.ts';
import type { DeadVolumeMount } from './messages.ts';

/** The kubelet goes on by itself once nobody waits; what is left of the orphan it removes. */
export function recover(finding: Finding<DeadVolumeMount>): Recovery {
  const { pins, subject, state, refusal } = finding;
  const { podUid, device, fsType } = pins;
  // Nobody is offered what would be refused.
  const mounts = refusal === undefined ? pins.mounts : [];
  const count = counted(mounts.length, 'mount');
  return {
    actions: mounts.map((mount) => ({ kind: 'force-unmount', ...mount, device, fsType, podUid })),
    touches:
      `${count} of the deleted pod ${podUid}, and every request to ${subject.path ?? 'its server'}; ` +
      'what was written to it and not yet sent is lost',
    leaves:
      'every other mount and file, the kubelet (no restart), the pod directory, and the global mount ' +
      "of a CSI volume, which is its driver's",
    afterwards:
      (state === 'active'
        ? 'the sync loop goes on within seconds, unless another mount holds it, and '
        : '') +
      'the kubelet removes the directory of the orphan; of a CSI volume vol_data.json may be left: ' +
      'kubediag check orphaned-volume-metadata',
    ...orphanConfirmation(finding),
  };
}

/** The mount is gone, no thread waits at the pod any more, and nobody calls the loop dead. */
export function hasHealed(
  { pins }: Finding<DeadVolumeMount>,
  { probes, threads, health }: Evidence,
): boolean {
  if (!probes.known || !threads.known) return false;
  const isMounted = probes.value.table.mounts.some(
    ({ device, target }) =>
      device === pins.device && pins.mounts.some((one) => one.target === target),
  );
  const isWaitedOn = threads.value.threads.some(({ podUid }) => podUid === pins.podUid);
  return !isMounted && !isWaitedOn && !(health.known && health.value.loop === 'failing');
}
