import { defined } from '../../../lib/std/defined.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { VERSION_CHARACTERS_MAX } from '../limits.ts';

/** A Kubernetes version with the suffix of a vendor. */
export interface VersionNumber {
  /** The original text: "v1.20.6-tke.23". */
  readonly text: string;
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** "rc.1" in "v1.19.0-rc.1": older than v1.19.0. A vendor's "gke.100" is not a pre-release. */
  readonly prerelease?: string;
}

// v1.18.8, v1.19.0-rc.1, v1.18.8-gke.100, v1.28.5+k3s1, v1.22.6-kubeedge-v1.10.0
const VERSION = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})((?:[-+][0-9A-Za-z.+_-]*)?)$/;

// -rc.1, -beta.0.71+3ec13c91a30adb-dirty
const PRERELEASE = /^-((?:alpha|beta|rc)(?:\.\d{1,6})*)(?![0-9A-Za-z])/;

export function parseVersionNumber(text: string, source: string | Origin): VersionNumber {
  const trimmed = text.trim();
  const found = trimmed.length > VERSION_CHARACTERS_MAX ? null : VERSION.exec(trimmed);
  if (!found) throw new ReadError('malformed', source, 'this is not a version');
  const [, major, minor, patch, suffix = ''] = found;
  const prerelease = PRERELEASE.exec(suffix)?.[1];
  return defined({
    text: trimmed.startsWith('v') ? trimmed : `v${trimmed}`,
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    prerelease,
  });
}

/** The parts that are compared: not the text, nor the vendor. */
export type ComparableVersion = Pick<VersionNumber, 'major' | 'minor' | 'patch' | 'prerelease'>;

/** Negative if the left one is older. A pre-release is older than its release. */
export function compareVersions(left: ComparableVersion, right: ComparableVersion): number {
  return (
    left.major - right.major ||
    left.minor - right.minor ||
    left.patch - right.patch ||
    comparePrereleases(left.prerelease, right.prerelease)
  );
}

export function isOlderThan(version: ComparableVersion, limit: ComparableVersion): boolean {
  return compareVersions(version, limit) < 0;
}

/** The order of SemVer: part by part, and the shorter one first. "alpha" < "beta" < "rc". */
function comparePrereleases(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) {
    return Number(left === undefined) - Number(right === undefined);
  }
  const [lefts, rights] = [left.split('.'), right.split('.')];
  for (const [index, part] of lefts.entries()) {
    const other = rights[index];
    if (other === undefined) return 1;
    if (part !== other) return compareParts(part, other);
  }
  return lefts.length - rights.length;
}

/** Numbers compare as numbers and are before words; words compare by their ASCII characters. */
function compareParts(left: string, right: string): number {
  const [isLeftNumber, isRightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (isLeftNumber && isRightNumber) return Number(left) - Number(right);
  if (isLeftNumber !== isRightNumber) return isLeftNumber ? -1 : 1;
  return left < right ? -1 : 1;
}
