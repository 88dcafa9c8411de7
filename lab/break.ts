import type { Habit } from './breaks/kubelet-habits.ts';
import type { PracticeNode } from './practice-node.ts';
import type { LabSettings } from './settings.ts';

/** One way to break a practice node for real, or to make it look broken. */
export interface Break {
  /** fault: KubeDiag must find it. look-alike: it must not report anything. */
  readonly kind: 'fault' | 'look-alike';
  /** The fault that the break makes or resembles: "stale-subpath-mount". */
  readonly fault: string;
  /** "secret-active". The name of a look-alike is only this. */
  readonly variant: string;
  /** What happens to the node: one sentence without a full stop. */
  readonly about: string;
  readonly expected: Expected;
  /** Present if the tour shows the fault by this break. */
  readonly tour?: {
    readonly title: string;
    /** How the fault comes about on a real node. */
    readonly story: string;
    /** Further options of `recover`, such as --wait if the effect shows later. */
    readonly recoverWith?: readonly string[];
  };
  /** The kubelet behaviour that the fault needs; absent if any kubelet will do. */
  readonly kubelet?: Habit;
  /** Why the kubelet no longer starts and removes pods after the break; absent if it still does. */
  readonly stopsPods?: 'hung' | 'stopped';
  /** Why this node cannot have the break, for example because it needs the stand-in kubelet. */
  readonly leftOut?: (settings: LabSettings) => string | undefined;
  /** Breaks the node, and returns once the fault is visible. */
  readonly make: (node: PracticeNode) => Promise<void>;
}

export interface Expected {
  readonly verdict: 'found' | 'clear' | 'unknown';
  /** The state of the worst finding. */
  readonly state?: 'damaged' | 'active' | 'latent' | 'benign';
  /** The result of `recover`. none: there is nothing to repair, and nothing changes. */
  readonly repair: 'done' | 'refused' | 'none';
  /**
   * Further arguments of `recover`: a confirmation, a finding. CONTAINER is a placeholder for the
   * short id of the finding's container, which is known only after the break.
   */
  readonly recoverWith?: readonly string[];
  /**
   * Changes that the repair may make, as prefixes of the comparison's lines:
   * "- mount /var/lib/kubelet/pods/UID/volume-subpaths". Any other change is a side effect.
   */
  readonly changes?: readonly string[];
  /**
   * Changes that the repair must make, as prefixes: each must match at least one line. Required for
   * every repair that is done; otherwise a program that only claims success would pass.
   */
  readonly must?: readonly string[];
  /** The number of findings, if there are any; 1 by default. */
  readonly findings?: number;
  /** Faults that a check still finds after the repair, because it left or uncovered them. */
  readonly afterwards?: readonly string[];
}

/** The fields that identify a break. */
export type NamedBreak = Pick<Break, 'kind' | 'fault' | 'variant'>;

/** "stale-subpath-mount/secret-active", "look-alike/young-leftover". */
export function caseName({ kind, fault, variant }: NamedBreak): string {
  return `${kind === 'look-alike' ? kind : fault}/${variant}`;
}

/** "dead-volume-mount (nfs-active)" */
export function titleOf({ kind, fault, variant }: NamedBreak): string {
  return `${kind === 'fault' ? '' : 'a look-alike of '}${fault} (${variant})`;
}
