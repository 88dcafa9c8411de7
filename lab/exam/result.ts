import type { Expected } from '../break.ts';

/** The result of one case. It is public: programs read it with `-o json`. */
export interface CaseResult {
  readonly name: string;
  readonly kind: 'fault' | 'look-alike';
  readonly about: string;
  readonly expected: Pick<Expected, 'verdict' | 'state' | 'repair'>;
  /** The verdict on this fault, or on another fault that the check reported by mistake. */
  readonly verdict: Seen['verdict'] | 'none';
  readonly state?: string;
  /** The result of `recover`; none if there was nothing to repair. */
  readonly repair: 'done' | 'refused' | 'failed' | 'none';
  /** Whether the check after the repair confirmed it; none if there was no repair. */
  readonly verified: 'yes' | 'no' | 'none';
  /** Other changes on the node: "+ mount /mnt". */
  readonly sideEffects: readonly string[];
  /** Messages for the user. A case without problems and side effects passed. */
  readonly problems: readonly string[];
  readonly passed: boolean;
  readonly tookMs: number;
  /** The duration of each part: "break", "check", "repair". */
  readonly parts: Readonly<Record<string, number>>;
}

export interface Seen {
  readonly verdict: 'found' | 'clear' | 'unknown';
  readonly state?: string;
  readonly problems: readonly string[];
}

/** The result of the exam. */
export interface ExamResult {
  readonly cases: readonly CaseResult[];
  readonly passed: number;
  readonly failed: number;
  /** Cases that this node cannot have, and why. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** Cases that did not run because the exam was interrupted. */
  readonly notRun: readonly string[];
  /** Changes outside the practice node: there must be none. */
  readonly outside: readonly string[];
  readonly kernel: string;
  readonly kubelet: string;
  readonly runtime: string;
  readonly tookMs: number;
}

/** At least one case ran, none failed or is missing, and the machine is unchanged. */
export function isPerfect({ cases, failed, notRun, outside }: ExamResult): boolean {
  return cases.length > 0 && failed === 0 && notRun.length === 0 && outside.length === 0;
}
