import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Break } from './break.ts';
import { caseName } from './exam/cases.ts';
import { PLACES } from './places.ts';

type Named = Pick<Break, 'kind' | 'fault' | 'variant'>;

/** On the node; `lab heal` deletes it. */
const MARK = join(PLACES.lab, 'broken');

/** The breaks since the node was created or healed, oldest first. */
export function appliedBreaks<T extends Named>(all: readonly T[], mark = MARK): readonly T[] {
  const names = existsSync(mark) ? readFileSync(mark, 'utf8').trimEnd().split('\n') : [];
  return names.flatMap((name) => all.find((each) => caseName(each) === name) ?? []);
}

/** Written before the break is made. */
export function markBroken(asked: Named, mark = MARK): void {
  writeFileSync(mark, `${caseName(asked)}\n`, { flag: 'a' });
}

/** "dead-volume-mount (nfs-active)" */
export function titleOf({ kind, fault, variant }: Named): string {
  return `${kind === 'fault' ? '' : 'a look-alike of '}${fault} (${variant})`;
}
