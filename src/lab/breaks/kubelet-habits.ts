import type { PracticeNode } from '../practice-node.ts';
import type { KubeletVersion, LabSettings } from '../settings.ts';

/** Leaves a stale subPath mount as it is, and removes exactly the log path of a container. */
const OLD: KubeletVersion = 'v1.18.8';
/** Mounts a stale subPath anew, and removes whatever begins with the log path of a container. */
const NEW: KubeletVersion = 'v1.36.3';

/** What kubelets of some versions do, and others do not. */
interface Habit {
  readonly about: string;
  readonly version: KubeletVersion;
  readonly isOf: (minor: number, patch: number) => boolean;
}

export const HABITS = {
  leavesStaleMounts: {
    about: 'leaves a stale subPath mount as it is (before 1.19)',
    version: OLD,
    isOf: (minor) => minor < 19,
  },
  mountsAnew: {
    about: 'mounts a stale subPath anew (1.19 and newer)',
    version: NEW,
    isOf: (minor) => minor >= 19,
  },
  removesTheLogPath: {
    about: 'removes exactly the log path (before 1.17.12, 1.18.9 and 1.19)',
    version: OLD,
    isOf: (minor, patch) => !removesByPattern(minor, patch),
  },
  removesByPattern: {
    about: 'removes whatever begins with the log path (1.17.12, 1.18.9, 1.19 and newer)',
    version: NEW,
    isOf: removesByPattern,
  },
} as const satisfies Record<string, Habit>;

function removesByPattern(minor: number, patch: number): boolean {
  const first: Readonly<Record<number, number>> = { 17: 12, 18: 9 };
  return minor >= 19 || patch >= (first[minor] ?? Number.POSITIVE_INFINITY);
}

// v1.18.8, v1.36.3+k3s1
const VERSION = /^v1\.(\d+)\.(\d+)/;

/** Why a break that needs this habit cannot be made here: a real kubelet is as old as it is. */
export function lacks({ about, isOf }: Habit): (settings: LabSettings) => string | undefined {
  return ({ kubelet }) => {
    if (kubelet.kind === 'stand-in') return undefined;
    const [, minor, patch] = VERSION.exec(kubelet.version) ?? [];
    if (minor !== undefined && isOf(Number(minor), Number(patch))) return undefined;
    return `it needs a kubelet that ${about}, and this one is ${kubelet.version}`;
  };
}

/**
 * Has our own kubelet take on this habit, and collect what has ended or leave it for now. A real one
 * has the habit, or the break was left out, and collects as it likes.
 */
export function takeOn({ version }: Habit, node: PracticeNode, collects = false): void {
  if (node.settings.kubelet.kind === 'stand-in') node.tellKubelet({ version, collects });
}
