import { verifiedKubelet } from '../kubelet/verified-version.ts';
import type { VersionNumber } from '../text/version-number.ts';

/** The first patches of old minor versions that got the change. */
const FIRST_PATCH: Readonly<Record<number, number>> = { 20: 10, 21: 4, 22: 0 };
const LAST_MINOR_WITHOUT = 19;

/**
 * What a kubelet does with the empty volume folders of an orphan. Since kubernetes pull request
 * 95301 (1.20.10, 1.21.4, 1.22.0) it removes them; before, it left them where they are, and then
 * the orphan's folder too. In which pre-release of these the change arrived is not in our tables.
 */
export function volumeCleanupBehaviour(version: VersionNumber): 'removes' | 'leaves' | 'unknown' {
  const { major, minor, patch, prerelease } = verifiedKubelet(version);
  if (major !== 1) return 'unknown';
  if (minor <= LAST_MINOR_WITHOUT) return 'leaves';
  const first = FIRST_PATCH[minor] ?? 0;
  if (patch === first && prerelease !== undefined && minor in FIRST_PATCH) return 'unknown';
  return patch >= first ? 'removes' : 'leaves';
}

/** Whether it is known that the folders stay unless somebody else removes them. */
export function leavesVolumeFolders(version: VersionNumber): boolean {
  return volumeCleanupBehaviour(version) === 'leaves';
}
