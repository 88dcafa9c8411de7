import type { VersionNumber } from './version-number.ts';

/** The first patch of these that removes them; newer minors do, older ones never did. */
const FIRST_PATCH: Readonly<Record<number, number>> = { 20: 10, 21: 4 };

/**
 * Whether this kubelet leaves the empty volume folders of an orphan where they are, and then the
 * orphan's folder too. Since kubernetes pull request 95301 (1.20.10, 1.21.4, 1.22) it removes them.
 */
export function leavesVolumeFolders({ major, minor, patch }: VersionNumber): boolean {
  return major === 1 && minor < 22 && patch < (FIRST_PATCH[minor] ?? Number.POSITIVE_INFINITY);
}
