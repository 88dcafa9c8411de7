import { readFileSync } from 'node:fs';
import { unescapeOctal } from '../src/lib/std/unescape-octal.ts';

/** All mount points, outermost first, with duplicates. Touches no path. */
export function mountPoints(): readonly string[] {
  // 812 29 0:52 / /var/lib/kubelet/pods/29da.../volumes/kubernetes.io~secret/key rw,relatime ...
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map(unescapeOctal);
}
