import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { StepRecord } from '../steps/operation-result.ts';
import {
  ACTIONS_SHOWN_BYTES_MAX,
  FINDINGS_SHOWN_BYTES_MAX,
  PROOF_SHOWN_BYTES_MAX,
} from './limits.ts';

type Finding = NonNullable<DiagnosisStatus['findings']>[number];

/**
 * The status with what one more step found or did. A step that runs again, for another path or after
 * an approval, reports its actions in the journal again; each is listed once. What does not fit is
 * counted.
 */
export function withRecord(status: DiagnosisStatus, record: StepRecord = {}): DiagnosisStatus {
  const { findings = [], plannedActions = [], actions = [] } = record;
  const listed = new Set((status.actions ?? []).map(({ journalEntry }) => journalEntry));
  const news = actions.filter(
    ({ journalEntry: entry }) => entry === undefined || !listed.has(entry),
  );
  return {
    ...status,
    ...joinedFindings(status, findings),
    ...joinedActions('plannedActions', status, plannedActions),
    ...joinedActions('actions', status, news),
  };
}

/** A finding that is found again replaces the earlier one. */
function joinedFindings(status: DiagnosisStatus, more: readonly Finding[]): DiagnosisStatus {
  if (more.length === 0) return {};
  const again = new Set(more.map(identityOf));
  const before = (status.findings ?? []).filter((each) => !again.has(identityOf(each)));
  let proofBytes = PROOF_SHOWN_BYTES_MAX;
  const proven = [...before, ...more].map((finding) => {
    const { proof, ...bare } = finding;
    if (!proof) return finding;
    const bytes = bytesOf(proof);
    if (bytes > proofBytes) return { ...bare, proofNotListed: proof.length };
    proofBytes -= bytes;
    return finding;
  });
  const bareBytes = (finding: Finding) => {
    const { proof: _, ...bare } = finding;
    return bytesOf(bare);
  };
  const { shown, left } = fitting(proven, FINDINGS_SHOWN_BYTES_MAX, bareBytes);
  const findingsNotListed = (status.findingsNotListed ?? 0) + left;
  return { findings: shown, ...(findingsNotListed > 0 ? { findingsNotListed } : {}) };
}

/** Two subjects may have the same short id. */
function identityOf({ fault, id, subject }: Finding): string {
  return JSON.stringify([fault, id, subject]);
}

function joinedActions(
  name: 'actions' | 'plannedActions',
  status: DiagnosisStatus,
  more: NonNullable<DiagnosisStatus['actions']>,
): DiagnosisStatus {
  if (more.length === 0) return {};
  const all = [...(status[name] ?? []), ...more];
  const { shown, left } = fitting(all, ACTIONS_SHOWN_BYTES_MAX, bytesOf);
  const uncounted = `${name}NotListed` as const;
  const count = (status[uncounted] ?? 0) + left;
  return { [name]: shown, ...(count > 0 ? { [uncounted]: count } : {}) };
}

/** The first ones, as many as fit. */
function fitting<T>(all: readonly T[], bytesMax: number, size: (each: T) => number) {
  let left = bytesMax;
  const end = all.findIndex((each) => {
    left -= size(each);
    return left < 0;
  });
  const shown = end < 0 ? [...all] : all.slice(0, end);
  return { shown, left: all.length - shown.length };
}

/** The size in etcd, with a comma: a newline has two bytes there and a control character six. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
