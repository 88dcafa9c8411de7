import type { Expected } from '../break.ts';

/** What came of one case. It is public: programs read it with `-o json`. */
export interface CaseResult {
  readonly name: string;
  readonly kind: 'fault' | 'look-alike';
  readonly about: string;
  readonly expected: Pick<Expected, 'verdict' | 'state' | 'repair'>;
  /** What `check` said of this fault: of any fault that it reported, when none was to be. */
  readonly verdict: Seen['verdict'] | 'none';
  readonly state?: string;
  /** What `recover` came to; none when it found nothing to repair. */
  readonly repair: 'done' | 'refused' | 'failed' | 'none';
  /** Whether a second look saw what the repair had come to; none when none was to be. */
  readonly verified: 'yes' | 'no' | 'none';
  /** What else changed on the node, or was left on it: "+ mount /mnt". */
  readonly sideEffects: readonly string[];
  /** What is not as it should be, in words. Passed means that there is nothing of that. */
  readonly problems: readonly string[];
  readonly passed: boolean;
  readonly tookMs: number;
  /** How long each part of it took: "break", "check", "repair". */
  readonly parts: Readonly<Record<string, number>>;
}

export interface Seen {
  readonly verdict: 'found' | 'clear' | 'unknown';
  readonly state?: string;
  readonly problems: readonly string[];
}

/** What came of the whole exam. */
export interface ExamResult {
  readonly cases: readonly CaseResult[];
  readonly passed: number;
  readonly failed: number;
  /** Cases that cannot be made on this node, and why. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** Cases that somebody did not wait for: the exam was interrupted. */
  readonly notRun: readonly string[];
  /** What is different on the machine itself: nothing may be. */
  readonly outside: readonly string[];
  readonly kernel: string;
  readonly kubelet: string;
  readonly runtime: string;
  readonly tookMs: number;
}

/** Perfect: at least one case was sat and all that were to be, none failed, and the machine is as it was. */
export function isPerfect({ cases, failed, notRun, outside }: ExamResult): boolean {
  return cases.length > 0 && failed === 0 && notRun.length === 0 && outside.length === 0;
}
