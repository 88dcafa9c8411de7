import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { verifiedKubelet } from '../../evidence/kubelet/verified-version.ts';

/** Patches with which older kubelets got these bind mounts; what they did before is not in our tables. */
const FIRST_AFFECTED: Readonly<Record<number, number>> = { 7: 14, 8: 9, 9: 4 };

/**
 * Since 1.19.0 (kubernetes pull request 89629, made exact by 105512) the kubelet compares a subPath
 * mount with its source before each start of the container, and mounts it again when they differ.
 * The pick for 1.18 was taken back before 1.18.7, so all of 1.18 and older is affected. In which
 * pre-release of 1.19.0 the change arrived is not in our tables.
 */
export function isRepairedByKubelet(version: KubeletVersion): boolean | 'unknown' {
  const { major, minor, patch, prerelease } = verifiedKubelet(version);
  if (major !== 1 || patch < (FIRST_AFFECTED[minor] ?? 0) || minor < 7) return 'unknown';
  if (minor === 19 && patch === 0 && prerelease) return 'unknown';
  return minor >= 19;
}
