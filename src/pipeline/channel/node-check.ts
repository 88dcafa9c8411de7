import * as z from 'zod';
import { count, time } from '../api/fields.ts';
import { findingOf, proofOf, subjectOf } from '../api/finding.ts';
import { REPORTED_PROOF_MAX, REPORTED_TEXT_MAX } from '../api/limits.ts';
import { CHECKED_FAULTS_MAX, CHECKED_FINDINGS_MAX, CHECKED_UNKNOWNS_MAX } from './limits.ts';

const line = z.string().max(REPORTED_TEXT_MAX);
const { reason, summary, subject } = findingOf(line).shape;

const finding = z.strictObject({
  fault: line,
  id: line,
  state: z.enum(['damaged', 'active', 'latent']),
  /** Of the worst findings only. */
  detail: z
    .strictObject({
      reason,
      summary,
      subject,
      /** What a person can do about it. Absent if there is a repair. */
      manualStep: line.exactOptional(),
      proof: z.array(proofOf(line)).max(REPORTED_PROOF_MAX),
    })
    .exactOptional(),
});

const unknown = z.strictObject({
  fault: line,
  message: line,
  /** What it is about; absent if it is about the whole node. */
  subject: subjectOf(line).exactOptional(),
});

/** What one check said of one fault. */
const fault = z.strictObject({
  fault: line,
  verdict: z.enum(['found', 'clear', 'unknown']),
  benign: count,
  /** Findings that are not listed, because a check has a limit. */
  notListed: count.exactOptional(),
});

/** The bounded result of one standing check. */
export const nodeCheck = z.strictObject({
  /** When the check ended. */
  time,
  durationMs: count,
  kubeletVersion: line.exactOptional(),
  runtimeVersion: line.exactOptional(),
  kubediagVersion: line,
  faults: z.array(fault).max(CHECKED_FAULTS_MAX),
  /** Worst first; benign ones are only counted. */
  findings: z.array(finding).max(CHECKED_FINDINGS_MAX),
  unknowns: z.array(unknown).max(CHECKED_UNKNOWNS_MAX),
});

export type NodeCheck = z.output<typeof nodeCheck>;
export type CheckedFinding = NodeCheck['findings'][number];
