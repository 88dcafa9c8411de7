import { geteuid } from 'node:process';
import type { Report } from '../../../node/checkup/report.ts';

/** Why a fault is unknown when permissions are missing. */
export const NOT_ROOT = 'not root (details: -o json)';

/** Replaces the single denied reads by one reason for a person who is not root. */
export function withoutDenials(report: Report, isRoot = geteuid?.() === 0): Report {
  if (isRoot) return report;
  const faults = report.faults.map((fault) => {
    const isDenied = fault.verdict === 'unknown' && /permission denied/.test(fault.reason ?? '');
    return isDenied ? { ...fault, reason: NOT_ROOT } : fault;
  });
  return { ...report, faults };
}
