import type { Finding } from '../model/finding.ts';
import { findingId, type Judged } from './check-up.ts';
import type { FaultReport, FindingReport, NodeSummary, Report } from './report.ts';

export function makeReport(node: NodeSummary, judged: readonly Judged[]): Report {
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Report',
    node,
    faults: judged.map(faultReport),
  };
}

function faultReport({ fault, verdict }: Judged): FaultReport {
  const doubts = 'doubts' in verdict ? verdict.doubts : [];
  return {
    name: fault.id,
    title: fault.title,
    references: fault.references,
    verdict: verdict.state,
    ...(doubts.length > 0 ? { reason: doubts.map(({ why }) => why).join('; ') } : {}),
    findings: verdict.findings.map((finding) => findingReport(fault, finding)),
  };
}

function findingReport(fault: Judged['fault'], finding: Finding): FindingReport {
  const { pins: _, ...told } = finding;
  const isOurs = finding.state !== 'benign';
  return {
    id: findingId(fault, finding),
    ...told,
    actions: isOurs ? (fault.recover?.(finding).actions ?? []) : [],
  };
}
