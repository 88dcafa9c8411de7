import type { Action } from './action.ts';
import type { Collected, EvidenceOption, Needs } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { LogSignature } from './log-signature.ts';
import type { FileRule, MessageRule } from './redaction.ts';
import type { Verdict } from './verdict.ts';

/** One way in which a node can be broken, and all we know of it. Its folder holds the rest. */
export interface Fault<N extends Needs = Needs, P extends object = object> {
  readonly id: string;
  readonly title: string;
  readonly severity: 'info' | 'degraded' | 'broken';
  /** A nursery fault reports; its actions are not permitted anywhere by default. */
  readonly stage: 'nursery' | 'stable';
  readonly references: readonly string[];
  /** Versions that have the fault, in words; the rule itself is code. */
  readonly affected: readonly AffectedVersions[];
  /** It is about the current state of the node, which the texts for `kubediag examine` cannot show. */
  readonly isCurrentState?: true;
  /** Its findings concern every pod of the node: a check of one pod reports them too. */
  readonly affectsWholeNode?: true;
  /** Every reason a finding of this fault may carry, and what it means. */
  readonly reasons: Readonly<Record<string, string>>;
  /** The pins that make the id of a finding; all of them where it is absent. */
  readonly identifiedBy?: readonly (keyof P & string)[];
  readonly needs: N;
  readonly options?: readonly EvidenceOption<unknown>[];
  /** What it alone reads in logs. */
  readonly logSignatures?: readonly LogSignature[];
  /** Set when it reads messages about containers: the parts of one that a bundle may contain. */
  readonly redactMessage?: MessageRule;
  /** What a bundle may contain of a file that it alone reads. */
  readonly redactFile?: FileRule;
  /** What makes a text that somebody sent suspicious, where it is no evidence. */
  readonly suspicions?: Suspicions;
  /** Which deletions that `kubediag trace` sees are due to this fault, and how. */
  readonly deletion?: {
    readonly isCause: (name: string, stack: readonly string[]) => boolean;
    readonly why: readonly string[];
  };
  /** The processor of the KubeDiag contract that knows this fault by an older name. */
  readonly processor?: string;
  /** Nothing else on the node works while it has this fault, so it is reported first. */
  readonly isFirst?: true;
  readonly diagnose: (evidence: Collected<N>) => Verdict<P>;
  /** Absent when we only diagnose. */
  readonly recover?: (finding: Finding<P>) => Recovery;
  /** Whether what others were to do after the recovery has happened; for those who wait for it. */
  readonly hasHealed?: (finding: Finding<P>, evidence: Collected<N>) => boolean;
  /** What that means, as a clause: "the container runs". */
  readonly healedMeans?: string;
  /** The faults whose repair waits for that of this one, on a node that has both. */
  readonly before?: readonly Precedence[];
}

/** Why one repair comes before another. */
export interface Precedence {
  /** The id of the fault that waits. */
  readonly fault: string;
  /** Whether it waits on the whole node, or only where both concern the same pod. */
  readonly on: 'node' | 'pod';
  readonly why: string;
  /** Reasons of findings that hold up nothing. */
  readonly unless?: readonly string[];
}

export interface AffectedVersions {
  readonly component: string;
  readonly versions: string;
  readonly behaviour: string;
}

/** What would be done about one finding, in words and as data. */
export interface Recovery {
  readonly actions: readonly Action[];
  /** What it touches, and what it leaves alone. */
  readonly touches: string;
  readonly leaves: string;
  /** What others do afterwards, and how long that may take. */
  readonly afterwards: string;
  /** Set when a general "yes" does not cover it: its actions are refused without this very word. */
  readonly confirmation?: { readonly why: string; readonly word: string };
}

export function defineFault<const N extends Needs, P extends object>(
  fault: Fault<N, P>,
): Fault<N, P> {
  return fault;
}

// biome-ignore lint/suspicious/noExplicitAny: a catalogue holds faults of every finding type.
export type AnyFault = Fault<any, any>;

/** A text that somebody sent, all of one kind, with what it lists where it is a listing. */
export interface LooseText {
  readonly text: string;
  /** All of the file that it stands in. */
  readonly whole: string;
  readonly paths: readonly string[];
  /** Names without a path. */
  readonly names: readonly string[];
}

/**
 * What makes a loose text suspicious where it is no evidence. A function says what the text shows and
 * what it does not: "lists a~1, but not in which folder".
 */
export interface Suspicions {
  /** Signatures that only a node with the fault has in its log, here quoted outside of a log. */
  readonly quoted?: readonly string[];
  readonly task?: (loose: LooseText) => string | undefined;
  readonly 'plain-mounts'?: (loose: LooseText) => string | undefined;
  readonly listing?: (loose: LooseText) => string | undefined;
}
