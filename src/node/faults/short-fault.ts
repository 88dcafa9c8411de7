import type { Evidence, Maybe } from '../model/evidence.ts';
import { type AnyFault, defineFault, type Fault } from '../model/fault.ts';
import {
  FINDING_STATES,
  type Finding,
  type FindingState,
  type Proof,
  type Step,
  type Subject,
} from '../model/finding.ts';
import type { KernelUse } from '../model/kernel-use.ts';
import type { LogSignature } from '../model/log-signature.ts';
import { type Unknown, unknownFrom, verdictOf } from '../model/verdict.ts';

/** What a check judges: where it was read, and which thing on the node it is about. */
export interface Fact {
  readonly proof: readonly Proof[];
  readonly subject?: Subject;
  /**
   * Names the thing, where a node can have several; the id of the finding is made of it. A line in a
   * log about the same thing is further proof of the finding that another check made.
   */
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
  readonly summary: string | ((fact: F) => string);
  /** Replaces the state that the check gives by default. */
  readonly state?: FindingState;
}

/** One way to see a fault: evidence, and a pure judgement of it. The functions of `checks.ts` make one. */
export interface Check {
  // biome-ignore lint/suspicious/noExplicitAny: the checks of a fault read evidence of several types.
  readonly evidence: Evidence<any>;
  /**
   * Set it where another check of the fault decides. Its findings are then only benign, and a node is
   * clear also when its evidence could not be read.
   */
  readonly isSupplement?: boolean;
  readonly messages: readonly (Pick<Message<Fact>, 'reason' | 'means'> | undefined)[];
  readonly logSignatures?: readonly LogSignature[];
  readonly kernelUses?: readonly KernelUse[];
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly observe: (value: any) => readonly (Observation | Unknown)[];
}

export interface Observation extends Fact {
  readonly state: FindingState;
  readonly reason: string;
  readonly summary: string;
}

/** What one check found, and what it could not determine. */
export type CheckResults = readonly (Observation | Unknown)[];

type Written =
  | ('id' | 'title' | 'severity' | 'references' | 'affected' | 'before' | 'options')
  | ('isFirst' | 'redactFile' | 'redactMessage' | 'suspicions');

type Steps = readonly [Step, ...Step[]];

/** A fault that a few checks describe completely. It reports and repairs nothing. */
export interface ShortFault extends Pick<AnyFault, Written> {
  readonly checks: readonly [Check, ...Check[]];
  /** The part of every finding that is the same. */
  readonly blastRadius: string;
  readonly excluded: readonly string[];
  /** What the steps can damage or interrupt; it is shown before them. */
  readonly risk: string;
  /** What a person does about it. */
  readonly steps: Steps | ((fact: Fact) => Steps);
  readonly prevention?: readonly string[];
  /** By default true; false where its findings name pods. */
  readonly affectsWholeNode?: boolean;
  /** By default true unless it reads only logs: `kubediag examine` gets texts, and they show no more. */
  readonly isCurrentState?: boolean;
}

export function defineShortFault(short: ShortFault): Fault {
  const { checks, blastRadius, excluded, risk, steps, prevention, ...given } = short;
  const { affectsWholeNode = true, isCurrentState = !checks.every(readsLog), ...manifest } = given;
  const logSignatures = checks.flatMap((check) => check.logSignatures ?? []);
  const distinctChecks = checks.map((check) =>
    checks.find((each) => readsLog(each) === readsLog(check)) === check
      ? check
      : pinnedByReason(check),
  );
  const common = { blastRadius, excluded, ...(prevention && { prevention }) };
  const findingOf = ({ max, ...rest }: Observation): Finding => {
    const own = typeof steps === 'function' ? steps({ ...rest, ...(max && { max }) }) : steps;
    const alternatives = [{ text: `risk: ${risk}` }, ...own];
    return { ...common, alternatives, subject: {}, pins: {}, ...rest };
  };
  return defineFault({
    ...manifest,
    ...(affectsWholeNode && { affectsWholeNode }),
    ...(isCurrentState && { isCurrentState }),
    stage: 'stable',
    reasons: Object.fromEntries(
      checks.flatMap(({ messages }) =>
        messages.flatMap((each) => (each ? [[each.reason, each.means]] : [])),
      ),
    ),
    needs: Object.fromEntries(
      checks.map(({ evidence }) => [evidence.id, needOf(evidence, checks)]),
    ),
    logSignatures,
    kernelUses: checks.flatMap((check) => check.kernelUses ?? []),
    suspicions: { quoted: logSignatures.map(({ id }) => id), ...manifest.suspicions },
    diagnose: (evidence: Readonly<Record<string, Maybe<unknown>>>) => {
      const results = distinctChecks.flatMap((check) => judged(check, evidence[check.evidence.id]));
      const unknowns = results.filter((each) => 'why' in each);
      const observations = results.flatMap((each) => ('why' in each ? [] : [each]));
      return verdictOf({
        findings: oneForEachThing(observations).map(findingOf),
        // Several checks can lack the same evidence, for the same reason.
        unknowns: [...new Map(unknowns.map((each) => [JSON.stringify(each), each])).values()],
      });
    },
  });
}

const readsLog = ({ logSignatures }: Check) => logSignatures !== undefined;

/** Findings that name no thing get another id than those of an earlier check. */
function pinnedByReason(check: Check): Check {
  const pins = { check: check.messages[0]?.reason ?? '' };
  const withPins = (each: Observation | Unknown) =>
    'why' in each || Object.keys(each.pins ?? {}).length > 0 ? each : { ...each, pins };
  return { ...check, observe: (value) => check.observe(value).map(withPins) };
}

/** One finding for each thing: the worst, with the proof of the others, such as a line in a log. */
function oneForEachThing(observations: readonly Observation[]): readonly Observation[] {
  const byThing = Map.groupBy(observations, ({ pins = {} }) =>
    JSON.stringify(Object.entries(pins).toSorted(([left], [right]) => (left < right ? -1 : 1))),
  );
  return [...byThing.values()].map((group) =>
    group.toSorted((left, right) => rank(left) - rank(right)).reduceRight(joined),
  );
}

function joined(other: Observation, worse: Observation): Observation {
  return { ...other, ...worse, proof: [...worse.proof, ...other.proof] };
}

/** Of two with the same state, the one without proof comes last: it only says what the node lacks. */
function rank({ state, proof }: Observation): number {
  return FINDING_STATES.indexOf(state) + (proof.length > 0 ? 0 : 0.5);
}

function needOf(optional: Evidence<unknown>, checks: readonly Check[]) {
  const isSupplement = checks.every((each) => each.evidence !== optional || each.isSupplement);
  return { optional, ...(isSupplement && { isSupplement }) };
}

function judged(
  { evidence: { id }, observe, isSupplement }: Check,
  evidence: Maybe<unknown> | undefined,
): CheckResults {
  if (evidence?.known) return observe(evidence.value);
  if (isSupplement) return [];
  return [evidence ? unknownFrom(evidence) : { why: `${id}: not collected` }];
}
