import { FINDING_STATES, type Finding, type Subject } from '../model/finding.ts';
import { originText } from '../model/origin.ts';
import type { Unknown } from '../model/verdict.ts';
import { findingId, type Judged } from './judge-faults.ts';
import type { FaultReport, FindingReport, NodeSummary, Report, WaitsFor } from './report.ts';

export function makeReport(node: NodeSummary, judged: readonly Judged[]): Report {
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Report',
    node,
    faults: judged.toSorted(byHarm).map((each) => faultReport(each, judged)),
  };
}

const SEVERITIES = ['broken', 'degraded', 'info'] as const;

/** The most urgent fault comes first; equally urgent faults stay in their order. */
function byHarm(left: Judged, right: Judged): number {
  return (
    harmRank(left) - harmRank(right) ||
    SEVERITIES.indexOf(left.fault.severity) - SEVERITIES.indexOf(right.fault.severity)
  );
}

/** damaged, active, latent; then what is not known, what is harmless, and what is well. */
function harmRank({ verdict }: Judged): number {
  const states = FINDING_STATES.length;
  if (verdict.state === 'unknown') return states;
  const worst = verdict.findings.map(({ state }) => FINDING_STATES.indexOf(state));
  if (verdict.state === 'found') return Math.min(...worst);
  return worst.length > 0 ? states + 1 : states + 2;
}

function faultReport({ fault, verdict }: Judged, all: readonly Judged[]): FaultReport {
  const { unknowns } = verdict;
  const failures = new Set(unknowns.flatMap((unknown) => unknown.failures ?? []));
  return {
    name: fault.id,
    title: fault.title,
    references: fault.references,
    verdict: verdict.state,
    ...(unknowns.length > 0 ? { reason: reasonOf(unknowns) } : {}),
    ...(failures.size > 0 ? { failures: [...failures] } : {}),
    findings: verdict.findings.map((finding) => findingReport(fault, finding, all)),
  };
}

/** One failed read may be the reason for several kinds of evidence. */
function reasonOf(unknowns: readonly Unknown[]): string {
  return [...new Set(unknowns.map(({ why }) => why))].join('; ');
}

function findingReport(
  fault: Judged['fault'],
  finding: Finding,
  all: readonly Judged[],
): FindingReport {
  const { pins: _pins, mustName: _mustName, ...reported } = finding;
  const isOurs = finding.state !== 'benign';
  const waiting = waitsFor(fault, finding, all);
  return {
    id: findingId(fault, finding),
    ...reported,
    proof: finding.proof.map((each) => ({ ...each, origin: originText(each.origin) })),
    actions: isOurs ? (fault.recover?.(finding).actions ?? []) : [],
    ...(waiting.length > 0 ? { waitsFor: waiting } : {}),
  };
}

/** What must be repaired first, of all that was found in the same look. */
export function waitsFor(
  fault: { readonly id: string },
  finding: Finding,
  all: readonly Judged[],
): readonly WaitsFor[] {
  if (finding.state === 'benign') return [];
  return all.flatMap((other) =>
    (other.fault.before ?? [])
      .filter((precedence) => precedence.fault === fault.id)
      .flatMap(({ on, why, unless = [] }) =>
        other.verdict.findings
          .filter(({ state, reason }) => state !== 'benign' && !unless.includes(reason))
          .filter(({ subject }) => on === 'node' || isSamePod(subject, finding.subject))
          .map((each) => ({ fault: other.fault.id, finding: findingId(other.fault, each), why })),
      ),
  );
}

function isSamePod(left: Subject, right: Subject): boolean {
  return left.podUid !== undefined && left.podUid === right.podUid;
}
