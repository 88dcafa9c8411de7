import { cutSentence } from '../../lib/std/cut-sentence.ts';
import { findingId, type PodName } from '../../node/checkup/judge-faults.ts';
import { type CheckResult, runCheck } from '../../node/checkup/run-check.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import { type Finding, isActive } from '../../node/model/finding.ts';
import { originText } from '../../node/model/origin.ts';
import type { Verdict } from '../../node/model/verdict.ts';
import type { StepReason } from '../api/results.ts';
import {
  failedWith,
  type OperationResult,
  type StepInput,
  type StepRecord,
} from '../steps/operation-result.ts';
import { podOfStep } from '../steps/step-input.ts';
import { stepsOf } from './fault-steps.ts';
import { FINDINGS_STORED_MAX, PROOF_CHARACTERS_MAX } from './limits.ts';
import { verdictOfPod } from './pod-part.ts';
import type { OwnProcessor, ProcessorHost } from './processor-host.ts';

/** The processor that finds a fault. */
export function diagnoserOf(fault: AnyFault): OwnProcessor {
  const steps = stepsOf(fault);
  return {
    path: steps.diagnoserPath,
    operation: steps.diagnoser,
    does: `finds active ${fault.id} (${lowered(fault.title)})`,
    details:
      'It succeeds when a finding is damaged or active. If all findings are latent or benign, if there is ' +
      'none, or if the result is unknown, the step fails with the reason; `status.findings` lists latent ' +
      `findings too. ${fault.affectsWholeNode ? '' : 'With a podReference only that pod is checked. '}` +
      'The findings are JSON.',
    reads: [],
    writes: [steps.found, steps.findings, steps.bugLink],
    repairs: false,
    forPod: fault.affectsWholeNode ? 'refused' : 'limited',
    run: (input, host) => diagnoseFault(fault, input, host),
  };
}

function lowered(title: string): string {
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

/**
 * Whether the node, or the pod of the Diagnosis, has this fault and suffers from it now. The next step
 * of the graph repairs, so this one succeeds only for an active finding: latent, benign, clear and
 * unknown fail it. The status lists what was found in any case.
 */
async function diagnoseFault(
  fault: AnyFault,
  input: StepInput,
  host: ProcessorHost,
): Promise<OperationResult> {
  const pod = podOfStep(input);
  const { verdict } = await checkForFault(fault, pod, host);
  const { seen, record, reason } = seenIn(fault, verdict);
  const urgent = seen.filter(isActive);
  if (urgent.length > 0) {
    const results = resultsOf(fault, urgent, verdict);
    return { succeeded: true, results, ...(record ? { record } : {}) };
  }
  const about = pod
    ? `pod ${pod.namespace}/${pod.name} (leave podReference out to ask about the whole node)`
    : 'this node';
  return failedWith(`${about}: ${otherwise(fault, seen, verdict)}`, record, reason);
}

/** Checks the node for one fault; `checked` is what a recovery saves first. */
export async function checkForFault(
  fault: AnyFault,
  only: PodName | undefined,
  { node, settings, timeoutMs, listener, scope }: ProcessorHost,
): Promise<{ readonly verdict: Verdict; readonly checked: CheckResult }> {
  const run = { faults: [fault], settings, only: scope ? undefined : only, timeoutMs };
  const checked = await runCheck(node, run, listener);
  const [judged] = checked.judged;
  if (!judged) throw new Error(`no verdict of ${fault.id}`);
  const { verdict } = judged;
  return { verdict: scope ? verdictOfPod(verdict, scope) : verdict, checked };
}

/** What a verdict puts on record, and why a step fails that finds nothing active. */
export function seenIn(
  fault: AnyFault,
  verdict: Verdict,
): {
  readonly seen: readonly Finding[];
  readonly record: StepRecord | undefined;
  readonly reason: StepReason;
} {
  const seen = verdict.findings.filter(({ state }) => state !== 'benign');
  const findings = seen.slice(0, FINDINGS_STORED_MAX).map((each) => findingRecord(fault, each));
  const record = findings.length === 0 ? undefined : { findings };
  const reason = verdict.state === 'clear' ? 'NothingFound' : 'Unknown';
  return { seen, record, reason: record ? 'NotActive' : reason };
}

/** A finding as the status of a Diagnosis lists it, with the lines that prove it. */
export function findingRecord(
  fault: AnyFault,
  finding: Finding,
): NonNullable<StepRecord['findings']>[number] {
  const { state, reason, summary } = finding;
  const subject = { ...finding.subject };
  const short = (text: string) => cutSentence(text, PROOF_CHARACTERS_MAX);
  const proof = finding.proof.map(({ claim, text, origin }) => ({
    claim: short(claim),
    ...(text === undefined ? {} : { text: short(text) }),
    origin: short(originText(origin)),
  }));
  return { fault: fault.id, id: findingId(fault, finding), state, reason, summary, subject, proof };
}

function resultsOf(fault: AnyFault, urgent: readonly Finding[], verdict: Verdict) {
  const keys = stepsOf(fault);
  const stored = urgent.slice(0, FINDINGS_STORED_MAX);
  const reported = stored.map((finding) => {
    const { fault: _, proof: __, ...rest } = findingRecord(fault, finding);
    return rest;
  });
  return {
    [keys.found]: `${summed(urgent)}${unknownText(verdict)}`,
    [keys.findings]: JSON.stringify(reported),
    [keys.bugLink]: fault.references[0] ?? '',
  };
}

/** The first in full: it is the worst, and the others are in the list. */
function summed(findings: readonly Finding[]): string {
  const [first, ...others] = findings;
  if (!first) return '';
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${first.state}: ${first.summary}${more}`;
}

function otherwise(fault: AnyFault, seen: readonly Finding[], verdict: Verdict): string {
  const [first] = seen;
  if (first) {
    const id = findingId(fault, first);
    // The command comes first: a status has only the beginning of a long message.
    const cure = `kubediag recover ${fault.id} --finding ${id} repairs it all the same`;
    return `nothing is active now (${cure}); ${summed(seen)}${unknownText(verdict)}`;
  }
  if (verdict.state === 'unknown') return `it is not known${unknownText(verdict, ': ')}`;
  const harmless = summed(verdict.findings);
  return `it is clear of ${fault.id}${harmless === '' ? '' : `; ${harmless}`}`;
}

function unknownText(verdict: Verdict, before = '; not judged: '): string {
  const { unknowns } = verdict;
  return unknowns.length === 0 ? '' : `${before}${unknowns.map(({ why }) => why).join('; ')}`;
}
