import type { Habit } from './breaks/kubelet-habits.ts';
import type { PracticeNode } from './practice-node.ts';
import type { LabSettings } from './settings.ts';

/** One way to break a practice node for real, or to make it look broken. */
export interface Break {
  /** fault: KubeDiag must find it. look-alike: it must not report anything. */
  readonly kind: 'fault' | 'look-alike';
  /** The fault that it makes or resembles: "stale-subpath-mount". */
  readonly fault: string;
  /** "secret-active". A look-alike is named by this alone. */
  readonly variant: string;
  /** What happens to the node: one sentence without a full stop. */
  readonly about: string;
  readonly expected: Expected;
  /** Where it shows the fault best: its stop on the tour. */
  readonly tour?: {
    readonly title: string;
    /** How the fault comes about on a real node. */
    readonly story: string;
    /** Further options of `recover`: --wait, where something is to be seen afterwards. */
    readonly recoverWith?: readonly string[];
  };
  /** The behaviour of the kubelet that the fault needs; any if absent. */
  readonly kubelet?: Habit;
  /** Why the kubelet starts and removes no pods afterwards; absent if it does. */
  readonly stopsPods?: 'hung' | 'stopped';
  /** Why it cannot be made on this node, for example because it needs the stand-in kubelet. */
  readonly leftOut?: (settings: LabSettings) => string | undefined;
  /** Breaks the node, and returns once the fault is visible. */
  readonly make: (node: PracticeNode) => Promise<void>;
}

export interface Expected {
  readonly verdict: 'found' | 'clear' | 'unknown';
  /** The state of the worst finding. */
  readonly state?: 'damaged' | 'active' | 'latent' | 'benign';
  /** The result of `recover`. none: nothing to do, the exit code says so, and nothing changes. */
  readonly repair: 'done' | 'refused' | 'none';
  /**
   * Further arguments of `recover`: a confirmation, a finding. CONTAINER stands for the short id of
   * the finding's container, which is known only after the break.
   */
  readonly recoverWith?: readonly string[];
  /**
   * What the repair may change on the node, as the beginning of a line of the comparison:
   * "- mount /var/lib/kubelet/pods/UID/volume-subpaths". Any other change is a side effect.
   */
  readonly changes?: readonly string[];
  /**
   * What the repair must change, as beginnings of lines: each must match at least one. Every repair
   * that is done needs it, or a program that only claims success would pass. These are allowed
   * changes too.
   */
  readonly must?: readonly string[];
  /** The number of findings, if there are any; 1 by default. */
  readonly findings?: number;
  /** Faults that are found after the repair: what it leaves for a person, or uncovers. */
  readonly afterwards?: readonly string[];
}

/** What names a break. */
export type NamedBreak = Pick<Break, 'kind' | 'fault' | 'variant'>;

/** "stale-subpath-mount/secret-active", "look-alike/young-leftover". */
export function caseName({ kind, fault, variant }: NamedBreak): string {
  return `${kind === 'look-alike' ? kind : fault}/${variant}`;
}

/** "dead-volume-mount (nfs-active)" */
export function titleOf({ kind, fault, variant }: NamedBreak): string {
  return `${kind === 'fault' ? '' : 'a look-alike of '}${fault} (${variant})`;
}
