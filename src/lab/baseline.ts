import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLACES } from './places.ts';

/** What a practice node is before anything runs on it: to this it is healed. */
export interface Baseline {
  /** Where something is mounted, in the order of the mount table. */
  readonly mountPoints: readonly string[];
  /** What lies in the root. */
  readonly names: readonly string[];
  /** Where /bin leads; absent where it is a folder. */
  readonly bin?: string;
}

const FILE = join(PLACES.lab, 'baseline.json');

export function writeBaseline(): void {
  const bin = linkAt('/bin');
  const baseline: Baseline = {
    mountPoints: mountPoints(),
    names: readdirSync('/'),
    ...(bin === undefined ? {} : { bin }),
  };
  writeFileSync(FILE, JSON.stringify(baseline, null, 2));
}

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
}

/** Of our own mount table; what is mounted twice on one place is there twice. */
export function mountPoints(): readonly string[] {
  // 812 29 0:52 / /var/lib/kubelet/pods/29da.../volumes/kubernetes.io~secret/key rw,relatime ...
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  return lines.map((line) => unescaped(line.split(' ')[4] ?? ''));
}

/** "\040" is a space. */
function unescaped(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

export function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // It is gone, or no link.
  }
}
