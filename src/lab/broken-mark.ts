import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from './break.ts';
import { PLACES } from './places.ts';

type Named = Pick<Break, 'kind' | 'fault' | 'variant'>;

/** On the node, which forgets it when it is healed. */
const MARK = join(PLACES.lab, 'broken');

/**
 * Remembers how the node is about to be broken, and refuses when it was already: faults are made of the
 * same pods and folders, so a second one would fail halfway, or wait for a kubelet that hangs.
 */
export function markBroken(asked: Named, mark = MARK): void {
  if (existsSync(mark)) {
    throw new Error(`it was given ${readFileSync(mark, 'utf8')} already, and was not healed since`);
  }
  writeFileSync(mark, titleOf(asked));
}

/** "dead-volume-mount (nfs-active)" */
export function titleOf({ kind, fault, variant }: Named): string {
  return `${kind === 'fault' ? '' : 'what only resembles '}${fault} (${variant})`;
}
