import type { DiagnosisStatus } from '../api/diagnosis.ts';
import type { StepFile, StepRecord } from '../steps/operation-result.ts';
import type { DriverContext } from './driver-context.ts';
import { newAccessKey } from './large-results.ts';
import {
  ACTIONS_SHOWN_BYTES_MAX,
  FILES_SHOWN_BYTES_MAX,
  FINDINGS_SHOWN_BYTES_MAX,
  PROOF_SHOWN_BYTES_MAX,
} from './limits.ts';

type Finding = NonNullable<DiagnosisStatus['findings']>[number];

/** For the files of a Diagnosis. Without it, the status lists none. */
interface Fetching {
  readonly uid: string;
  readonly howToFetch: DriverContext['howToFetch'];
}

/**
 * The status with what one more step found, did or stored. A step that runs again, for another path or
 * after an approval, reports its actions in the journal again; each is listed once, and so is a file
 * with the same content. What does not fit is counted.
 */
export function withRecord(
  status: DiagnosisStatus,
  record: StepRecord = {},
  fetching?: Fetching,
): DiagnosisStatus {
  const { findings = [], plannedActions = [], actions = [], files = [] } = record;
  const listed = new Set((status.actions ?? []).map(({ journalEntry }) => journalEntry));
  const news = actions.filter(
    ({ journalEntry: entry }) => entry === undefined || !listed.has(entry),
  );
  return {
    ...status,
    ...joinedFindings(status, findings),
    ...joined('plannedActions', status, plannedActions, ACTIONS_SHOWN_BYTES_MAX),
    ...joined('actions', status, news, ACTIONS_SHOWN_BYTES_MAX),
    ...joined('files', status, keyedFiles(status, files, fetching), FILES_SHOWN_BYTES_MAX),
  };
}

/** Those that the status does not list yet, each with a new key. */
function keyedFiles(
  { files = [] }: DiagnosisStatus,
  more: readonly StepFile[],
  { uid, howToFetch }: Partial<Fetching> = {},
): NonNullable<DiagnosisStatus['files']> {
  if (uid === undefined || !howToFetch) return [];
  const listed = new Set(files.map(({ file }) => file));
  const news = new Map(more.map((each) => [each.file, each]));
  return [...news.values()]
    .filter(({ file }) => !listed.has(file))
    .map((each) => {
      const keyed = { ...each, accessKey: newAccessKey() };
      return { ...keyed, message: howToFetch(uid, keyed) };
    });
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

function joined<Name extends 'actions' | 'plannedActions' | 'files'>(
  name: Name,
  status: DiagnosisStatus,
  more: NonNullable<DiagnosisStatus[Name]>,
  bytesMax: number,
): DiagnosisStatus {
  if (more.length === 0) return {};
  const all = [...(status[name] ?? []), ...more];
  const { shown, left } = fitting(all, bytesMax, bytesOf);
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
