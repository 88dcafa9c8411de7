import type { Evidence, Maybe } from '../model/evidence.ts';
import { optional } from '../model/evidence.ts';
import { type AnyFault, defineFault, type Fault } from '../model/fault.ts';
import type { FindingState, Proof, Step, Subject } from '../model/finding.ts';
import type { LogSignature } from '../model/log-signature.ts';
import { type Unknown, unknownFrom, verdictOf } from '../model/verdict.ts';

/** What a check judges: where it was read, and which thing on the node it is about. */
export interface Fact {
  readonly proof: readonly Proof[];
  readonly subject?: Subject;
  /** Names the thing, where a node can have several; the id of the finding is made of it. */
  readonly pins?: Readonly<Record<string, string | number>>;
  /** The present limit, for steps that raise it. */
  readonly max?: number;
}

/** How one result of a check is reported. */
export interface Message<F extends Fact> {
  /** CamelCase, like the reason of a condition in Kubernetes. */
  readonly reason: string;
  /** Explains the reason, in the reference. */
  readonly means: string;
  readonly summary: (fact: F) => string;
  /** Where the usual state of such a result does not fit. */
  readonly state?: FindingState;
}

/** What a node lacks by design, such as a kernel module: there is nothing to check then. */
export interface Absent extends Fact {
  readonly absent: string;
}

/** One way to see a fault: evidence, and a pure judgement of it. `threshold`, `signature` and `comparison` make one. */
export interface Check {
  // biome-ignore lint/suspicious/noExplicitAny: the checks of a fault read evidence of several types.
  readonly evidence: Evidence<any>;
  /** It only adds notes, so the fault can be ruled out without it. Any other failed read is unknown. */
  readonly isSupplement?: boolean;
  readonly reasons: Readonly<Record<string, string>>;
  readonly logSignatures?: readonly LogSignature[];
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly observe: (value: any) => readonly (Observation | Unknown)[];
}

export interface Observation extends Fact {
  readonly state: FindingState;
  readonly reason: string;
  readonly summary: string;
}

type Written =
  | ('id' | 'title' | 'severity' | 'references' | 'affected' | 'before' | 'options')
  | ('isFirst' | 'isOfTheMoment' | 'isOfTheNode' | 'redactFile' | 'redactMessage' | 'suspicions');

type Steps = readonly [Step, ...Step[]];

/** A fault that a few checks describe completely. It reports and repairs nothing. */
export interface ShortFault extends Pick<AnyFault, Written> {
  readonly checks: readonly [Check, ...Check[]];
  /** The part of every finding that is the same. */
  readonly blastRadius: string;
  readonly excluded: readonly string[];
  /** What a person does about it, the risk first. */
  readonly steps: Steps | ((fact: Fact) => Steps);
  readonly prevention?: readonly string[];
}

export function defineShortFault(short: ShortFault): Fault {
  const { checks, blastRadius, excluded, steps, prevention, ...manifest } = short;
  const logSignatures = checks.flatMap((check) => check.logSignatures ?? []);
  const common = { blastRadius, excluded, ...(prevention && { prevention }) };
  const nothing = { subject: {}, pins: {} };
  const findingOf = ({ max, ...seen }: Observation) => {
    const fact = max === undefined ? seen : { ...seen, max };
    const alternatives = typeof steps === 'function' ? steps(fact) : steps;
    return { ...common, alternatives, ...nothing, ...seen };
  };
  return defineFault({
    ...manifest,
    stage: 'stable',
    reasons: Object.fromEntries(checks.flatMap(({ reasons }) => Object.entries(reasons))),
    needs: Object.fromEntries(checks.map(({ evidence }) => [evidence.id, optional(evidence)])),
    logSignatures,
    suspicions: { quoted: logSignatures.map(({ id }) => id), ...manifest.suspicions },
    diagnose: (evidence: Readonly<Record<string, Maybe<unknown>>>) => {
      const seen = checks.flatMap((check) => judged(check, evidence[check.evidence.id]));
      return verdictOf({
        findings: seen.flatMap((each) => ('why' in each ? [] : [findingOf(each)])),
        unknowns: seen.filter((each) => 'why' in each),
      });
    },
  });
}

function judged(
  { evidence: { id }, observe, isSupplement }: Check,
  evidence: Maybe<unknown> | undefined,
): readonly (Observation | Unknown)[] {
  if (evidence?.known) return observe(evidence.value);
  if (isSupplement) return [];
  return [evidence ? unknownFrom(evidence) : { why: `${id}: not collected` }];
}

export function reasonsOf(
  ...messages: readonly (Pick<Message<Fact>, 'reason' | 'means'> | undefined)[]
): Readonly<Record<string, string>> {
  return Object.fromEntries(messages.flatMap((each) => (each ? [[each.reason, each.means]] : [])));
}

export function observed<F extends Fact>(
  { reason, summary, state }: Message<F>,
  usual: FindingState,
  fact: F,
): Observation {
  const { proof, subject = {}, pins = {}, max } = fact;
  const report = { state: state ?? usual, reason, summary: summary(fact), proof, subject, pins };
  return max === undefined ? report : { ...report, max };
}

export function isAbsent(value: unknown): value is Absent {
  return typeof value === 'object' && value !== null && 'absent' in value;
}
