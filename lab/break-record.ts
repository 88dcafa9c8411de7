import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from './break.ts';
import { caseName } from './exam/cases.ts';
import { PLACES } from './places.ts';

type Named = Pick<Break, 'kind' | 'fault' | 'variant'>;

/** On the node, which forgets it when it is healed. */
const MARK = join(PLACES.lab, 'broken');

/** How the node was broken since it was made or healed, the first one first. */
export function appliedBreaks<T extends Named>(all: readonly T[], mark = MARK): readonly T[] {
  const names = existsSync(mark) ? readFileSync(mark, 'utf8').trimEnd().split('\n') : [];
  return names.flatMap((name) => all.find((each) => caseName(each) === name) ?? []);
}

/** Remembers that the node is about to be broken so. */
export function markBroken(asked: Named, mark = MARK): void {
  writeFileSync(mark, `${caseName(asked)}\n`, { flag: 'a' });
}

/** "dead-volume-mount (nfs-active)" */
export function titleOf({ kind, fault, variant }: Named): string {
  return `${kind === 'fault' ? '' : 'what only resembles '}${fault} (${variant})`;
}
