import { counted } from '../../../lib/std/counted.ts';
import { shortId } from '../../../lib/std/short-id.ts';
import type { Action } from '../../model/action.ts';
import type { Recovery } from '../../model/fault.ts';
import type { Finding } from '../../model/finding.ts';
import type { ContainerWithoutLogPath } from './findings.ts';
import type { Seen } from './messages.ts';

/**
 * Disarm first, restore second: otherwise the next collection deletes it again. The container is
 * removed in one call, for a stopped one is what the kubelet collects.
 */
export function recover(finding: Finding<ContainerWithoutLogPath>): Recovery {
  const { pins, reason, refusal } = finding;
  const { socket } = pins;
  // Nobody is offered what would be refused.
  const [containers, bin] = refusal === undefined ? [pins.containers, pins.bin] : [[], false];
  const removals = containers.map(
    ({ container, sandbox, createdAt, name }): Action => ({
      kind: 'remove-container',
      ...{ socket, container, sandbox, createdAt, name },
    }),
  );
  const [first] = containers;
  const restored: readonly Action[] = bin
    ? [{ kind: 'restore-symlink', path: '/bin', target: 'usr/bin' }]
    : [];
  return {
    actions: [...removals, ...restored],
    touches: [
      containers.length === 0
        ? ''
        : `${counted(containers.length, 'container')} with what was written in it, and its sandbox if it is empty then`,
      bin ? 'the link /bin' : '',
    ]
      .filter(Boolean)
      .join('; '),
    leaves: 'all other containers, images, volumes and files, and the kubelet',
    afterwards:
      'once no container without a log path is left, nothing needs to happen: within one ' +
      'collection (a minute) the kubelet no longer says "Failed to remove container", and what was ' +
      'restored stays; while another one is left, the kubelet deletes for that one',
    ...(reason === 'RunsWithoutLogPath' && first
      ? {
          confirmation: {
            why:
              `container "${first.name}" runs; to remove it ends what it serves, such as an MQTT ` +
              'broker that devices are connected to, and deletes what was written in it',
            word: shortId(first.container),
          },
        }
      : {}),
  };
}

/** The containers are gone, and /bin is there again. */
export function hasHealed(
  { pins }: Finding<ContainerWithoutLogPath>,
  { unlogged, usr }: Seen,
): boolean {
  if (!unlogged.known || !usr.known) return false;
  const isGone = pins.containers.every(({ container }) => !unlogged.value.listed.has(container));
  return isGone && (!pins.bin || usr.value.bin === 'link');
}
