import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { verifiedKubelet } from '../../evidence/kubelet/verified-version.ts';

/** The first patches of old minor versions that got the change. */
const FIRST_PATCH: Readonly<Record<number, number>> = { 17: 12, 18: 9 };
const FIRST_MINOR = 19;

// KubeEdge v1.9.4, v1.22.6-kubeedge-v1.10.0
const KUBEEDGE = /kubeedge[ -]v?1\.(\d{1,4})\./i;
const FIRST_KUBEEDGE_MINOR = 10;

/**
 * Since kubernetes pull request 93333 (1.19.0; picked into 1.17.12 and 1.18.9) the kubelet removes
 * all that matches the log path with a star behind it. Before, it removed exactly the log path, and
 * "" does not exist. edgecore has had this code since KubeEdge 1.10. In which pre-releases the
 * change arrived is not in our tables.
 */
export function isSweeping(version: KubeletVersion): boolean | 'unknown' {
  const { major, minor, patch, prerelease } = verifiedKubelet(version);
  const kubeEdge = KUBEEDGE.exec(version.via ?? version.text)?.[1];
  if (kubeEdge !== undefined && Number(kubeEdge) < FIRST_KUBEEDGE_MINOR) return false;
  if (major !== 1) return 'unknown';
  const first = FIRST_PATCH[minor] ?? (minor === FIRST_MINOR ? 0 : undefined);
  if (first === undefined) return minor > FIRST_MINOR;
  if (patch === first && prerelease !== undefined) return 'unknown';
  return patch >= first;
}
