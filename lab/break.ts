import type { Habit } from './breaks/kubelet-habits.ts';
import type { PracticeNode } from './practice-node.ts';
import type { LabSettings } from './settings.ts';

/** One way in which a practice node is broken for real, or looks as if it were. */
export interface Break {
  /** fault: KubeDiag must find it. look-alike: it must say nothing. */
  readonly kind: 'fault' | 'look-alike';
  /** The fault that it is, or that it resembles: "stale-subpath-mount". */
  readonly fault: string;
  /** Which form of it: "secret-active". A look-alike is called by this alone. */
  readonly variant: string;
  /** For a person: what is done to the node, in one sentence without its full stop. */
  readonly about: string;
  readonly expected: Expected;
  /** Which kubelets have the fault; any does where it is absent. */
  readonly kubelet?: Habit;
  /** Why the kubelet starts no pod and removes none from then on; absent when it does. */
  readonly stopsPods?: 'hung' | 'stopped';
  /** Why it cannot be made on this node, such as for want of our own kubelet; undefined when it can. */
  readonly leftOut?: (settings: LabSettings) => string | undefined;
  /** Breaks the node, and returns once the fault is there to be seen. */
  readonly make: (node: PracticeNode) => Promise<void>;
}

export interface Expected {
  readonly verdict: 'found' | 'clear' | 'unknown';
  /** Of the worst finding, where there is one. */
  readonly state?: 'damaged' | 'active' | 'latent' | 'benign';
  /** What `recover` comes to. none: it finds nothing to do, says so by its code, and changes nothing. */
  readonly repair: 'done' | 'refused' | 'none';
  /**
   * Words that `recover` needs beside its usual ones: a confirmation, a finding. CONTAINER stands for
   * the short id of the finding's container, which is known only once it is made.
   */
  readonly recoverWith?: readonly string[];
  /**
   * What the repair changes on the node, as the start of a line of the comparison:
   * "- mount /var/lib/kubelet/pods/UID/volume-subpaths". Any other change is a side effect.
   */
  readonly changes?: readonly string[];
  /**
   * What of that the repair HAS to change, as the starts of lines: each must begin one at least. A
   * repair that is done needs it, or a program that only says so would pass. It covers what it names,
   * so it need not stand among the changes again.
   */
  readonly must?: readonly string[];
  /** How many findings the check has of it, where it has any; one unless told. */
  readonly findings?: number;
  /** Faults that are found once it is repaired: what a repair leaves for a person, or uncovers. */
  readonly afterwards?: readonly string[];
}
