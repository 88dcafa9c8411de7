import { counted } from '../../../lib/std/counted.ts';
import { cutSentence } from '../../../lib/std/cut-sentence.ts';
import {
  REPORTED_FINDINGS_MAX,
  REPORTED_TEXT_MAX,
  REPORTED_UNKNOWNS_MAX,
} from '../../../pipeline/api/limits.ts';
import type { NodeReportStatus } from '../../../pipeline/api/node-report.ts';
import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { CONDITION_CHARACTERS_MAX, MANUAL_STEP_CHARACTERS_MAX } from './limits.ts';
import { type KnownFinding, lastingUnknowns, type NodeState } from './node-state.ts';

/** The part of a NodeCondition that follows from the checks. */
export interface NodeFaultCondition {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Undefined if what is published stays. */
export function conditionOf(state: NodeState): NodeFaultCondition | undefined {
  const { check, findings, verdict } = state;
  if (!check || !verdict) return undefined;
  const [worst, ...others] = findings.values();
  if (worst) {
    const count = others.length === 0 ? '' : ` ${counted(others.length, 'more finding')}.`;
    const more = `${count}${adviceFor(worst)}`;
    const summaryMax = CONDITION_CHARACTERS_MAX - more.length;
    return {
      status: 'True',
      reason: faultReason(worst.fault),
      message: `${cutSentence(summaryOf(worst), summaryMax)}${more}`,
    };
  }
  if (verdict === 'unknown') {
    const [open] = unknownsOf(state, check);
    const text = open ? `${open.fault}: ${open.message}` : 'A check could not judge every fault.';
    const message = cutSentence(text, CONDITION_CHARACTERS_MAX);
    return { status: 'Unknown', reason: 'CheckIncomplete', message };
  }
  const message = `None of the ${counted(check.faults.length, 'known fault')} is on this node.`;
  return { status: 'False', reason: 'NoFaultFound', message };
}

/** "StaleSubpathMount" for the fault stale-subpath-mount. */
export function faultReason(fault: string): string {
  return fault.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** There is a built-in OperationSet for each fault; a Diagnosis repairs no finding that is latent. */
export function adviceFor({ fault, id, state, detail }: KnownFinding): string {
  const { manualStep } = detail ?? {};
  const repair =
    state === 'latent'
      ? `run kubediag recover ${fault} --finding ${id} --host-root /host in the executor container of the node; a Diagnosis repairs it only once it is active`
      : `create a Diagnosis of the node with operationSet ${fault}`;
  // A command that is cut could do something else.
  const isShort = manualStep !== undefined && manualStep.length <= MANUAL_STEP_CHARACTERS_MAX;
  const manual = isShort ? manualStep : `see the manual steps, kubediag explain ${fault}`;
  const advice = manualStep === undefined ? repair : manual;
  return ` What to do: ${advice}; kubectl describe nodereport shows the proof.`;
}

export function summaryOf({ fault, state, detail }: KnownFinding): string {
  return detail?.summary ?? `${fault}: a finding is ${state}.`;
}

/** What could not be determined for long; if that changes with every check, what it is now. */
function unknownsOf(state: NodeState, { unknowns }: NodeCheck): NodeCheck['unknowns'] {
  const lasting = lastingUnknowns(state);
  const long = unknowns.filter(({ fault }) => lasting.has(fault));
  return long.length === 0 && state.verdict === 'unknown' ? unknowns : long;
}

/** The status of the NodeReport; undefined if what is published stays. */
export function reportOf(state: NodeState): NodeReportStatus | undefined {
  const { check, verdict } = state;
  if (!check || !verdict) return undefined;
  const findings = [...state.findings.values()];
  const unknowns = unknownsOf(state, check);
  const listed = findings.slice(0, REPORTED_FINDINGS_MAX);
  return {
    state: findings[0]?.state ?? (verdict === 'clear' ? 'clear' : 'unknown'),
    checkTime: check.time,
    durationMilliseconds: check.durationMs,
    counts: countsOf(state, unknowns.length),
    findings: listed.map(reportedFinding),
    ...notListed('findingsNotListed', findings.length + notSent(check) - listed.length),
    unknowns: unknowns
      .slice(0, REPORTED_UNKNOWNS_MAX)
      .map(({ fault, message }) => ({ fault, message })),
    ...notListed('unknownsNotListed', unknowns.length - REPORTED_UNKNOWNS_MAX),
    ...(check.kubeletVersion === undefined ? {} : { kubeletVersion: check.kubeletVersion }),
    ...(check.runtimeVersion === undefined ? {} : { runtimeVersion: check.runtimeVersion }),
    kubediagVersion: check.kubediagVersion,
  };
}

function countsOf(
  { check, findings }: NodeState,
  unknowns: number,
): NonNullable<NodeReportStatus['counts']> {
  const of = (state: string) =>
    [...findings.values()].filter((each) => each.state === state).length;
  const [damaged, active, latent] = [of('damaged'), of('active'), of('latent')];
  return {
    // Those that no check can list have no state here.
    findings: findings.size + (check ? notSent(check) : 0),
    damaged,
    active,
    latent,
    benign: check?.faults.reduce((sum, { benign }) => sum + benign, 0) ?? 0,
    unknowns,
  };
}

function notSent({ faults }: NodeCheck): number {
  return faults.reduce((sum, { notListed: count = 0 }) => sum + count, 0);
}

function notListed(name: 'findingsNotListed' | 'unknownsNotListed', count: number): object {
  return count > 0 ? { [name]: count } : {};
}

type ReportedFinding = NonNullable<NodeReportStatus['findings']>[number];

function reportedFinding(finding: KnownFinding): ReportedFinding {
  const { fault, id, state, since, detail } = finding;
  const { reason = faultReason(fault), subject, proof = [] } = detail ?? {};
  return {
    fault,
    id,
    state,
    reason,
    summary: summaryOf(finding).slice(0, REPORTED_TEXT_MAX),
    ...(subject ? { subject } : {}),
    since,
    ...(proof.length > 0 ? { proof } : {}),
  };
}

/** The findings of a NodeReport, as an agent that starts knows them. */
export function knownFindings(
  { findings = [] }: NodeReportStatus,
  nowMs: number,
): readonly KnownFinding[] {
  return findings.flatMap(({ fault, id, state, since = '', ...detail }) => {
    if (state !== 'damaged' && state !== 'active' && state !== 'latent') return [];
    const { reason, summary, subject, proof = [] } = detail;
    const known = { reason, summary, ...(subject ? { subject } : {}), proof };
    const rest = { seenMs: nowMs, clearChecks: 0, returns: 0 };
    return [{ fault, id, state, since, detail: known, ...rest }];
  });
}

/**
 * What makes a report another one. Numbers in texts may change with every check (times, retries): they
 * are published with the next change or heartbeat, and so is what is harmless.
 */
export function substanceOf(report: NodeReportStatus | undefined): string {
  const { findings = [], unknowns = [], counts, ...rest } = report ?? {};
  const { checkTime: _time, durationMilliseconds: _duration, ...lasting } = rest;
  return JSON.stringify([
    lasting,
    { ...counts, benign: undefined },
    findings.map(({ fault, id, state, reason, summary }) => [
      ...[fault, id, state, reason],
      summary.replace(/\d+/g, '0'),
    ]),
    unknowns.map(({ fault }) => fault),
  ]);
}
