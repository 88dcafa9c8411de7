import { newestContainer } from '../../evidence/containers/containers.ts';
import type { Recovery } from '../../model/fault.ts';
import type { Finding } from '../../model/finding.ts';
import type { Seen } from './diagnose.ts';
import type { StaleSubpathMount } from './messages.ts';

const AFTERWARDS: Readonly<Record<string, string>> = {
  ContainerCannotStart: 'the kubelet starts the container within its back-off, at most 5 min',
  ContainerWillNotRestart:
    'nothing needs to happen now: the next start of the container gets the new content',
};

/** The kubelet makes the bind mount again at the next container start; we only clear the dead one. */
export function recover({ pins, blastRadius, reason }: Finding<StaleSubpathMount>): Recovery {
  const { id, parent, device, root, target } = pins;
  return {
    actions: [{ kind: 'unmount', id, parent, device, root, target }],
    touches: blastRadius,
    leaves: 'all other mounts, all files, the kubelet, the container and its own copy of the mount',
    afterwards: AFTERWARDS[reason] ?? '',
  };
}

/** The container runs, and on a new mount: without one, it would have been started on an empty file. */
export function hasHealed(
  { subject, pins }: Finding<StaleSubpathMount>,
  { containers, mounts }: Seen,
): boolean {
  const { podUid = '', container = '' } = subject;
  if (!mounts.known || !containers.known) return false;
  const mount = mounts.value.mounts.findLast(({ target }) => target === pins.target);
  const newest = newestContainer(containers.value.containers, podUid, container);
  return mount?.isDeleted === false && newest?.state === 'running';
}
