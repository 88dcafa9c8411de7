import { defined } from '../../../lib/std/defined.ts';
import { compareVersions, parseVersionNumber, type VersionNumber } from '../text/version-number.ts';
import { type NewestVerified, verifiedVersion } from './verified-version.ts';

interface Row {
  /** The first and last release of KubeEdge with this kubelet: "1.13.0". */
  readonly first: string;
  readonly last: string;
  readonly kubernetes: string;
}

/**
 * The kubelet in each release of edgecore. The source of a row is the KubeEdge release notes
 * (CHANGELOG-1.x.md), or nodes that report the version ("v1.23.17-kubeedge-v1.13.4"). The rows are
 * in order.
 */
const ROWS: readonly Row[] = [
  { first: '1.2.1', last: '1.2.1', kubernetes: 'v1.17.1' },
  { first: '1.3.1', last: '1.3.1', kubernetes: 'v1.17.1' },
  { first: '1.4.0', last: '1.4.0', kubernetes: 'v1.18.6' },
  { first: '1.5.0', last: '1.5.0', kubernetes: 'v1.19.3' },
  { first: '1.6.0', last: '1.6.1', kubernetes: 'v1.19.3' },
  { first: '1.7.1', last: '1.7.2', kubernetes: 'v1.19.3' },
  { first: '1.8.0', last: '1.8.2', kubernetes: 'v1.19.3' },
  { first: '1.9.2', last: '1.9.4', kubernetes: 'v1.21.4' },
  { first: '1.10.0', last: '1.10.0', kubernetes: 'v1.22.6' },
  { first: '1.11.0', last: '1.11.1', kubernetes: 'v1.22.6' },
  { first: '1.12.0', last: '1.12.4', kubernetes: 'v1.22.6' },
  { first: '1.13.0', last: '1.13.3', kubernetes: 'v1.23.15' },
  { first: '1.13.4', last: '1.13.5', kubernetes: 'v1.23.17' },
  { first: '1.14.0', last: '1.14.3', kubernetes: 'v1.24.14' },
  { first: '1.14.4', last: '1.14.5', kubernetes: 'v1.24.17' },
  { first: '1.15.0', last: '1.15.0', kubernetes: 'v1.26.7' },
  { first: '1.15.1', last: '1.15.2', kubernetes: 'v1.26.10' },
  { first: '1.15.3', last: '1.15.4', kubernetes: 'v1.26.15' },
  { first: '1.16.0', last: '1.16.2', kubernetes: 'v1.27.7' },
  { first: '1.16.3', last: '1.16.6', kubernetes: 'v1.27.15' },
  { first: '1.17.0', last: '1.17.0', kubernetes: 'v1.28.6' },
  { first: '1.17.1', last: '1.17.4', kubernetes: 'v1.28.11' },
  // The release notes of 1.18 say 1.29.6, but its nodes report 1.29.5.
  { first: '1.18.0', last: '1.18.3', kubernetes: 'v1.29.5' },
  { first: '1.19.0', last: '1.19.2', kubernetes: 'v1.29.5' },
  { first: '1.20.0', last: '1.20.0', kubernetes: 'v1.30.7' },
  { first: '1.21.0', last: '1.21.1', kubernetes: 'v1.30.7' },
  { first: '1.22.0', last: '1.22.2', kubernetes: 'v1.31.12' },
  { first: '1.23.0', last: '1.23.1', kubernetes: 'v1.32.10' },
];

export const NEWEST_KUBEEDGE = release(ROWS.at(-1)?.last ?? '');

/** Releases whose sources contradict each other. */
const DISPUTED: ReadonlySet<string> = new Set(['v1.9.0', 'v1.9.1']);

/**
 * The kubelet in a release of KubeEdge. A release without a row is assumed to have the kubelet of
 * the row before it. A custom build, with a suffix, may have any version up to the newest row.
 */
export function kubernetesInside(
  kubeEdge: VersionNumber,
): { readonly kubernetes: string; readonly assumption?: string } | undefined {
  const row = ROWS.findLast(({ first }) => compareVersions(kubeEdge, release(first)) >= 0);
  if (!row || DISPUTED.has(kubeEdge.text)) return undefined;
  const { assumption } = verifiedVersion(kubeEdge, release(row.last));
  const { major, minor, patch, text } = kubeEdge;
  const isNewest = row === ROWS.at(-1) && assumption !== undefined;
  if (text !== `v${major}.${minor}.${patch}` && !isNewest) return undefined;
  return defined({ kubernetes: row.kubernetes, assumption });
}

function release(number: string): NewestVerified {
  const version = parseVersionNumber(number, 'the table of KubeEdge');
  return { ...version, text: `KubeEdge ${version.text}` };
}
