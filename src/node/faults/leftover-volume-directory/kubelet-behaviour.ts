import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';

/** Until 1.9 the kubelet looks for volumes on the disk every three minutes; then at its start only. */
export function scansAllTheTime({ major, minor }: KubeletVersion): boolean {
  return major === 1 && minor <= 9;
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
