import {
  type Missing,
  type UnpackedPackages,
  unpackedPackages,
} from '../../tools/debian-packages.ts';

/** What the tests of the collector ask first: another shell to run it, and one that reads it. */
export function shellPackages(): Promise<UnpackedPackages | Missing> {
  return unpackedPackages(['busybox', 'shellcheck']);
}
