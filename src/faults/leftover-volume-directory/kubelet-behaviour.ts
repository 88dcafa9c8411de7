import type { KubeletVersion } from '../../evidence/kubelet-version.ts';

/** Until 1.9 the kubelet looks for volumes on the disk every three minutes; then at its start only. */
export function scansAllTheTime({ major, minor }: KubeletVersion): boolean {
  return major === 1 && minor <= 9;
}

/** Patches with which older kubelets learned to remove the empty folders of orphaned pods. */
const FIRST_CLEANING: Readonly<Record<number, number>> = { 20: 10, 21: 4 };

/** Since 1.22.0, 1.21.4 and 1.20.10 the kubelet removes empty volume folders of orphaned pods. */
export function cleansOrphans({ major, minor, patch, prerelease }: KubeletVersion): boolean {
  if (major !== 1) return major > 1;
  if (minor >= 23) return true;
  // In which pre-release of 1.22.0 it arrived is not in our tables.
  if (minor === 22) return patch > 0 || prerelease === undefined;
  return patch >= (FIRST_CLEANING[minor] ?? Number.POSITIVE_INFINITY);
}

/** Plugins of the kubelet itself whose teardown renamed, before 1.7.0. */
export const RENAMED_BEFORE_1_7: ReadonlySet<string> = new Set([
  'kubernetes.io~empty-dir',
  'kubernetes.io~secret',
  'kubernetes.io~configmap',
  'kubernetes.io~downward-api',
  'kubernetes.io~git-repo',
]);

/** Volumes that belong to one pod alone, so that two pods may have one of the same name. */
export const OF_ONE_POD: ReadonlySet<string> = new Set([
  ...RENAMED_BEFORE_1_7,
  'kubernetes.io~projected',
]);
