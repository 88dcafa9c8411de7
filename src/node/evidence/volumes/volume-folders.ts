import { verifiedKubelet } from '../kubelet/verified-version.ts';
import type { VersionNumber } from '../text/version-number.ts';

/** The first patch release of each old minor version with the change. */
const FIRST_PATCH: Readonly<Record<number, number>> = { 20: 10, 21: 4, 22: 0 };
const LAST_MINOR_WITHOUT = 19;

/**
 * What a kubelet does with the empty volume directories of an orphaned pod. Since kubernetes pull
 * request 95301 (1.20.10, 1.21.4, 1.22.0) it removes them. Before, it left them, and so the pod's
 * directory. We do not know the first pre-release of these versions with the change.
 */
export function volumeCleanupBehaviour(version: VersionNumber): 'removes' | 'leaves' | 'unknown' {
  const { major, minor, patch, prerelease } = verifiedKubelet(version);
  if (major !== 1) return 'unknown';
  if (minor <= LAST_MINOR_WITHOUT) return 'leaves';
  const first = FIRST_PATCH[minor] ?? 0;
  if (patch === first && prerelease !== undefined && minor in FIRST_PATCH) return 'unknown';
  return patch >= first ? 'removes' : 'leaves';
}

/** Whether the directories are known to stay until another program removes them. */
export function leavesVolumeFolders(version: VersionNumber): boolean {
  return volumeCleanupBehaviour(version) === 'leaves';
}
