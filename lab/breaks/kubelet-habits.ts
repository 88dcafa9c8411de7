import type { PracticeNode } from '../practice-node.ts';
import { KUBELET_VERSIONS, type KubeletVersion, type LabSettings } from '../settings.ts';

/** Leaves a stale subPath mount, and removes exactly the log path of a container. */
const OLD: KubeletVersion = 'v1.18.8';
/** Remounts a stale subPath, and removes all names that begin with the log path of a container. */
const NEW: KubeletVersion = 'v1.36.3';

/** A behaviour that only some versions of the kubelet have. */
export interface Habit {
  readonly about: string;
  readonly version: KubeletVersion;
  readonly isOf: (minor: number, patch: number) => boolean;
}

/** Since a minor version, and since patches of earlier ones. */
function isSince(first: number, patches: Readonly<Record<number, number>>): Habit['isOf'] {
  return (minor, patch) => minor >= first || patch >= (patches[minor] ?? Number.POSITIVE_INFINITY);
}

const removesByPattern = isSince(19, { 17: 12, 18: 9 });
const removesEmptyFolders = isSince(22, { 20: 10, 21: 4 });

export const HABITS = {
  leavesStaleMounts: {
    about: 'does not remount a stale subPath (before 1.19)',
    version: OLD,
    isOf: (minor) => minor < 19,
  },
  mountsAnew: {
    about: 'remounts a stale subPath (1.19 and newer)',
    version: NEW,
    isOf: (minor) => minor >= 19,
  },
  removesTheLogPath: {
    about: 'removes exactly the log path (before 1.17.12, 1.18.9 and 1.19)',
    version: OLD,
    isOf: (minor, patch) => !removesByPattern(minor, patch),
  },
  removesByPattern: {
    about: 'removes everything that begins with the log path (1.17.12, 1.18.9, 1.19 and newer)',
    version: NEW,
    isOf: removesByPattern,
  },
  asksEveryServer: {
    about: 'asks the server of every volume of a deleted pod except CSI (before 1.19)',
    version: OLD,
    isOf: (minor) => minor < 19,
  },
  asksCsiServersAlone: {
    about: "asks only the servers of a deleted pod's CSI volumes (1.30 and newer)",
    version: NEW,
    isOf: (minor) => minor >= 30,
  },
  leavesEmptyFolders: {
    about: 'leaves the volume directories of a deleted pod (before 1.20.10, 1.21.4 and 1.22)',
    version: OLD,
    isOf: (minor, patch) => !removesEmptyFolders(minor, patch),
  },
  removesEmptyFolders: {
    about: 'removes empty directories of a deleted pod (1.20.10, 1.21.4, 1.22 and newer)',
    version: NEW,
    isOf: removesEmptyFolders,
  },
} as const satisfies Record<string, Habit>;

// v1.18.8, v1.36.3+k3s1
const VERSION = /^v1\.(\d+)\.(\d+)/;

/** Why a break is not possible with these settings; undefined if it is. */
type LeftOut = (settings: LabSettings) => string | undefined;

/** Why a break is left out on a node with a real kubelet. */
export function notWithReal(why: string): LeftOut {
  return ({ kubelet }) => (kubelet.kind === 'real' ? why : undefined);
}

/** The exam would attribute the kubelet's own changes to the check. */
export const tidiesUp = notWithReal('a real kubelet removes such a container during the check');

function hasHabit(version: string, isOf: Habit['isOf']): boolean {
  const [, minor, patch] = VERSION.exec(version) ?? [];
  return minor !== undefined && isOf(Number(minor), Number(patch));
}

/**
 * The version of the stand-in kubelet with all these behaviours, preferably the current one;
 * undefined if there is none.
 */
export function versionWith(
  habits: readonly Habit[],
  now: KubeletVersion,
): KubeletVersion | undefined {
  const liked = [now, ...habits.map(({ version }) => version), ...KUBELET_VERSIONS];
  return liked.find((version) => habits.every(({ isOf }) => hasHabit(version, isOf)));
}

/** Why a break that needs this behaviour is not possible with a real kubelet of another version. */
export function lacks({ about, isOf }: Habit): LeftOut {
  return ({ kubelet }) => {
    if (kubelet.kind === 'stand-in') return undefined;
    if (hasHabit(kubelet.version, isOf)) return undefined;
    return `it needs a kubelet that ${about}, and this one is ${kubelet.version}`;
  };
}

/** Sets whether the stand-in kubelet removes exited containers. A real one always does. */
export function setCollects({ settings, configureKubelet }: PracticeNode, collects: boolean): void {
  if (settings.kubelet.kind === 'stand-in') configureKubelet({ collects });
}
