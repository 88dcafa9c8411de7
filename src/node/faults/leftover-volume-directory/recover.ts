import type { Leftover } from '../../evidence/volumes/leftover-folders.ts';
import type { Action } from '../../model/action.ts';
import type { Recovery } from '../../model/fault.ts';
import type { Finding } from '../../model/finding.ts';
import type { Seen } from './folder-facts.ts';
import type { LeftoverVolumeDirectory } from './messages.ts';

/**
 * Characters of the names in one action. It stands in the journal twice, and the journal is read
 * whole: twenty thousand names of usual length are one action.
 */
const ACTION_CHARACTERS_MAX = 2 * 1024 * 1024;

/** Only the empty ones, by rmdir; what has content or a mount is for a person. */
export function recover({ pins, blastRadius, reason }: Finding<LeftoverVolumeDirectory>): Recovery {
  const { podUid, plugin } = pins;
  const actions = inPieces(pins.leftovers).map(
    (leftovers): Action => ({ kind: 'remove-empty-directory', podUid, plugin, leftovers }),
  );
  return {
    actions,
    touches: blastRadius,
    leaves:
      'the directory of the volume itself, every leftover with content, a mount or a user, all ' +
      'mounts, the kubelet',
    afterwards:
      reason === 'LeftoversPileUp'
        ? 'the kubelet forgets them by itself; until its cause is cured the pile grows back'
        : 'the kubelet forgets them by itself',
  };
}

function inPieces(names: readonly string[]): readonly (readonly string[])[] {
  const pieces: string[][] = [];
  let left = 0;
  for (const name of names) {
    left -= name.length;
    const piece = pieces.at(-1);
    if (piece && left >= 0) piece.push(name);
    else {
      pieces.push([name]);
      left = ACTION_CHARACTERS_MAX - name.length;
    }
  }
  return pieces;
}

/** None of those that were removed has come back, and no other has taken their place. What holds data stays. */
export function hasHealed(
  { pins }: Finding<LeftoverVolumeDirectory>,
  { leftovers }: Seen,
): boolean {
  if (!leftovers.known) return false;
  const here = leftovers.value.folders.find(({ path }) => path === pins.path);
  const isRemovable = ({ status, isEmpty }: Leftover) =>
    status?.type === 'folder' && isEmpty !== false;
  return !here?.leftovers.some(isRemovable);
}
