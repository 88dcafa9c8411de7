import type { Action } from './action.ts';
import type { Collected, EvidenceOption, Needs } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { KernelUse } from './kernel-use.ts';
import type { LogSignature } from './log-signature.ts';
import type { FileRule, MessageRule } from './redaction.ts';
import type { Verdict } from './verdict.ts';

/** One way in which a node can be broken, and everything we know about it. */
export interface Fault<N extends Needs = Needs, P extends object = object> {
  readonly id: string;
  readonly title: string;
  readonly severity: 'info' | 'degraded' | 'broken';
  /** A nursery fault is only reported: its actions are not permitted by default. */
  readonly stage: 'nursery' | 'stable';
  readonly references: readonly string[];
  /** The affected versions, for the reader. The code of the fault decides. */
  readonly affected: readonly AffectedVersions[];
  /** It concerns the current state of the node, which texts for `kubediag examine` cannot show. */
  readonly isCurrentState?: true;
  /** Its findings concern every pod of the node: a check of one pod reports them too. */
  readonly affectsWholeNode?: true;
  /** Every reason that a finding of this fault may have, and its meaning. */
  readonly reasons: Readonly<Record<string, string>>;
  /** The pins that form the id of a finding; all pins if not set. */
  readonly identifiedBy?: readonly (keyof P & string)[];
  readonly needs: N;
  readonly options?: readonly EvidenceOption<unknown>[];
  /** Log signatures that only this fault reads. */
  readonly logSignatures?: readonly LogSignature[];
  /** Numbers of the kernel that it compares with their limits. */
  readonly kernelUses?: readonly KernelUse[];
  /**
   * Set if the fault reads messages about containers: the parts of a message that a bundle may
   * contain.
   */
  readonly redactMessage?: MessageRule;
  /** The parts that a bundle may contain of a file that only this fault reads. */
  readonly redactFile?: FileRule;
  /** What makes a submitted text suspicious even though it is not evidence. */
  readonly suspicions?: Suspicions;
  /** Which deletions seen by `kubediag trace` are caused by this fault, and how. */
  readonly deletion?: {
    readonly isCause: (name: string, stack: readonly string[]) => boolean;
    readonly why: readonly string[];
  };
  /** The processor of the KubeDiag contract that has this fault under an older name. */
  readonly processor?: string;
  /** Nothing else on the node works while it has this fault, so the fault is reported first. */
  readonly isFirst?: true;
  readonly diagnose: (evidence: Collected<N>) => Verdict<P>;
  /** Not set for a fault that we only diagnose. */
  readonly recover?: (finding: Finding<P>) => Recovery;
  /** True once the kubelet or the user has done their part. For commands that wait for it. */
  readonly hasHealed?: (finding: Finding<P>, evidence: Collected<N>) => boolean;
  /** The meaning of `hasHealed`, as a clause: "the container runs". */
  readonly healedMeans?: string;
  /** The faults that must be repaired after this one if a node has both. */
  readonly before?: readonly Precedence[];
}

/** Why one repair comes before another. */
export interface Precedence {
  /** The id of the fault that waits. */
  readonly fault: string;
  /** Whether that fault waits on the whole node, or only if both concern the same pod. */
  readonly on: 'node' | 'pod';
  readonly why: string;
  /** Findings with these reasons delay no other repair. */
  readonly unless?: readonly string[];
}

export interface AffectedVersions {
  readonly component: string;
  readonly versions: string;
  readonly behaviour: string;
}

/** The planned repair of one finding, for the reader and as data. */
export interface Recovery {
  readonly actions: readonly Action[];
  /** What the repair changes, and what it does not. */
  readonly touches: string;
  readonly leaves: string;
  /** What the kubelet or the user does afterwards, and how long that may take. */
  readonly afterwards: string;
  /** Set if "yes" is not enough: the actions are refused unless the user types this word. */
  readonly confirmation?: { readonly why: string; readonly word: string };
}

export function defineFault<const N extends Needs, P extends object>(
  fault: Fault<N, P>,
): Fault<N, P> {
  return fault;
}

// biome-ignore lint/suspicious/noExplicitAny: a catalogue holds faults of every finding type.
export type AnyFault = Fault<any, any>;

/** A submitted text of a single kind. If it is a listing, `names` holds its entries. */
export interface LooseText {
  readonly text: string;
  /** The whole file that contains the text. */
  readonly whole: string;
  readonly paths: readonly string[];
  /** Names without a path. */
  readonly names: readonly string[];
}

/**
 * What makes a submitted text suspicious even though it is not evidence. A function says what the
 * text shows and what is missing: "lists a~1, but not in which directory".
 */
export interface Suspicions {
  /** Signatures that only a node with the fault logs, quoted outside of a log. */
  readonly quoted?: readonly string[];
  readonly task?: (loose: LooseText) => string | undefined;
  readonly 'plain-mounts'?: (loose: LooseText) => string | undefined;
  readonly listing?: (loose: LooseText) => string | undefined;
}
