import type { VersionNumber } from './version-number.ts';

interface Row {
  /** Releases of KubeEdge, first and last, both included: "1.13.0". */
  readonly first: string;
  readonly last: string;
  readonly kubernetes: string;
}

/**
 * The kubelet that each release of KubeEdge builds into edgecore. A row is here because release
 * notes (CHANGELOG-1.x.md of KubeEdge) name the version, or because nodes with that release report
 * it ("v1.23.17-kubeedge-v1.13.4"). A release outside the rows is not guessed: patch releases have
 * changed the version before. 1.9.0 and 1.9.1 are left out, for there the two sources disagree.
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
  // The notes of 1.18 say 1.29.6, its nodes report 1.29.5.
  { first: '1.18.0', last: '1.18.3', kubernetes: 'v1.29.5' },
  { first: '1.19.0', last: '1.19.2', kubernetes: 'v1.29.5' },
  { first: '1.20.0', last: '1.20.0', kubernetes: 'v1.30.7' },
  { first: '1.21.0', last: '1.21.1', kubernetes: 'v1.30.7' },
  { first: '1.22.0', last: '1.22.2', kubernetes: 'v1.31.12' },
  { first: '1.23.0', last: '1.23.1', kubernetes: 'v1.32.10' },
];

/** The version of the kubelet inside a release of KubeEdge; a build of its own is no release. */
export function kubernetesInside(kubeEdge: VersionNumber): string | undefined {
  const { major, minor, patch, text } = kubeEdge;
  if (text !== `v${major}.${minor}.${patch}`) return undefined;
  return ROWS.find(({ first, last }) => {
    const [firstMajor, firstMinor, firstPatch] = numbersOf(first);
    const [, , lastPatch] = numbersOf(last);
    return (
      major === firstMajor && minor === firstMinor && patch >= firstPatch && patch <= lastPatch
    );
  })?.kubernetes;
}

function numbersOf(release: string): readonly [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = release.split('.').map(Number);
  return [major, minor, patch];
}
