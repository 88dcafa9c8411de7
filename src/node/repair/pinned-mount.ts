import { mountShowing } from '../evidence/mounts/mount-places.ts';
import type { Mount, MountTable } from '../evidence/mounts/mount-table.ts';
import type { ManualSteps, Outcome } from '../model/action.ts';
import { type ActionFailure, CHECK_AGAIN } from './handler.ts';
import type { MountPins, WriteResult } from './node-writer.ts';

const PINS = ['id', 'parent', 'device', 'root', 'target', 'fsType', 'isDeleted'] as const;

export function isPinned(mount: Mount, pins: MountPins): boolean {
  return PINS.every((pin) => pins[pin] === undefined || pins[pin] === mount[pin]);
}

/** The mount that an unmount of this path would hit instead of the pinned one, or that covers it. */
export function otherMount(pins: MountPins, table: MountTable): Mount | undefined {
  const { id, parent, target } = pins;
  const pinned = table.mounts.find((mount) => isPinned(mount, pins));
  if (!pinned) return table.mounts.findLast((mount) => mount.target === target);
  const shown = mountShowing(target, table);
  if (shown && shown !== pinned) return shown;
  return table.mounts.find(
    (mount) =>
      mount.parent === id ||
      (mount !== pinned && mount.parent === parent && mount.target === target),
  );
}

/** Undefined when the path leads to the pinned mount, and nothing is mounted on it or in it. */
export function objectionTo(pins: MountPins, table: MountTable): Outcome | undefined {
  const isThere = table.mounts.some((mount) => isPinned(mount, pins));
  const other = otherMount(pins, table);
  if (!other) {
    const note = 'nothing to do: the mount is gone already';
    return isThere ? undefined : { state: 'done', note };
  }
  const why = `${table.origin.file} now shows ${table.lineText(other)}`;
  if (!isThere) {
    const what = 'the mount changed since it was diagnosed';
    return { state: 'refused', what, why, todo: CHECK_AGAIN };
  }
  const todo = 'find out who made it and whether it is needed; unmount neither before you know';
  return { state: 'refused', what: 'another mount lies over this one', why, todo };
}

/** What an unmount that did not succeed means for the outcome of its action. */
export function unmountFailure(
  action: Exclude<WriteResult, { state: 'did' }>,
  manual: ManualSteps,
): ActionFailure {
  const { why } = action;
  switch (action.state) {
    case 'changed':
      return { what: action.what, why, todo: CHECK_AGAIN, stays: 'refused' };
    case 'hit-another': {
      const what = 'another mount was unmounted than the one that was diagnosed';
      const todo = 'restart the container that uses this path: the kubelet then mounts it again';
      return { what, why, todo, stays: 'failed' };
    }
    case 'unending': {
      const what = 'the unmount does not come to an end';
      return { what, why, todo: CHECK_AGAIN, manual, isUnending: true };
    }
    default:
      return { what: 'the unmount failed', why, todo: CHECK_AGAIN, manual };
  }
}
