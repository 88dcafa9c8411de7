import { defined } from '../../../lib/std/defined.ts';
import type { FaultReport, FindingReport, Report } from '../../../node/checkup/report.ts';

/** What changed since the previous check. */
export interface Change {
  readonly time: string;
  readonly fault: string;
  readonly change: 'appeared' | 'changed' | 'gone' | 'verdict';
  readonly verdict: FaultReport['verdict'];
  /** What it was before, of a finding that changed or a verdict. */
  readonly before?: string;
  readonly finding?: FindingReport;
  /** Why a fault is unknown. */
  readonly reason?: string;
}

/** The changes from one report to the next; from nothing, all that there is. */
export function changesOf(before: Report | undefined, after: Report): readonly Change[] {
  return after.faults.flatMap((fault) => {
    const old = before?.faults.find(({ name }) => name === fault.name);
    return [...findingChanges(old, fault), ...verdictChange(old, fault)].map((change) => ({
      time: after.node.time,
      fault: fault.name,
      verdict: fault.verdict,
      ...change,
    }));
  });
}

type ReportedChange = Pick<Change, 'change' | 'before' | 'finding' | 'reason'>;

function findingChanges(old: FaultReport | undefined, now: FaultReport): readonly ReportedChange[] {
  const were = new Map((old?.findings ?? []).map((finding) => [finding.id, finding]));
  const are = new Set(now.findings.map(({ id }) => id));
  const reported = now.findings.flatMap((finding): readonly ReportedChange[] => {
    const was = were.get(finding.id);
    if (!was) return [{ change: 'appeared', finding }];
    if (was.state === finding.state && was.reason === finding.reason) return [];
    return [{ change: 'changed', before: was.state, finding }];
  });
  // A finding that can no longer be judged is not gone.
  const gone = now.verdict === 'unknown' ? [] : [...were.values()].filter(({ id }) => !are.has(id));
  return [...reported, ...gone.map((finding) => ({ change: 'gone' as const, finding }))];
}

/** A verdict that follows from the findings is not reported again. */
function verdictChange(old: FaultReport | undefined, now: FaultReport): readonly ReportedChange[] {
  const isUnknown = now.verdict === 'unknown';
  const wasUnknown = old?.verdict === 'unknown';
  if (old ? isUnknown === wasUnknown : !isUnknown) return [];
  return [
    defined({ change: 'verdict', ...(old ? { before: old.verdict } : {}), reason: now.reason }),
  ];
}
