import { type ComparableVersion, compareVersions } from '../text/version-number.ts';

/** The newest verified version. It includes every patch release of its minor version. */
export interface NewestVerified extends ComparableVersion {
  /** "v1.36", "KubeEdge v1.23.1" */
  readonly text: string;
}

/** The newest kubelet whose source we compared with all our tables. */
export const NEWEST_KUBELET: NewestVerified = {
  text: 'v1.36',
  major: 1,
  minor: 36,
  patch: Number.POSITIVE_INFINITY,
};

export interface VerifiedVersion {
  /** The version to look up in a table. */
  readonly version: ComparableVersion;
  /** "last verified with v1.36" if this version was not verified. */
  readonly assumption?: string;
}

/** A version newer than the newest verified one is assumed to behave like that one. */
export function verifiedVersion(
  version: ComparableVersion,
  newest: NewestVerified,
): VerifiedVersion {
  if (compareVersions(version, newest) <= 0) return { version };
  return { version: newest, assumption: `last verified with ${newest.text}` };
}

/** The kubelet version to look up in a table. */
export function verifiedKubelet(version: ComparableVersion): ComparableVersion {
  return verifiedVersion(version, NEWEST_KUBELET).version;
}

/** The suffix of a claim about a kubelet's behaviour; empty for a verified version. */
export function verificationNote(
  version: ComparableVersion & { readonly assumption?: string },
): string {
  const assumptions = [version.assumption, verifiedVersion(version, NEWEST_KUBELET).assumption];
  return assumptions.map((one) => (one === undefined ? '' : `; ${one}`)).join('');
}
