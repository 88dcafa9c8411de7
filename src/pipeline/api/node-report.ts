import * as z from 'zod';
import { count, text, time } from './fields.ts';
import { findingOf, proofOf } from './finding.ts';
import {
  REPORTED_FINDINGS_MAX,
  REPORTED_PROOF_MAX,
  REPORTED_TEXT_MAX,
  REPORTED_UNKNOWNS_MAX,
} from './limits.ts';

const line = text.max(REPORTED_TEXT_MAX);
const { shape: finding } = findingOf(line);

const reportedFinding = z.object({
  ...finding,
  since: time.describe('When a check found it first.').exactOptional(),
  proof: z
    .array(proofOf(line))
    .max(REPORTED_PROOF_MAX)
    .describe('The first lines that prove the finding, with their origin.')
    .exactOptional(),
});

const unknown = z.object({
  fault: line.describe('Name of the fault that could not be judged.'),
  message: line.describe('What could not be determined, and why.'),
});

/** The worst state first, as in a report. */
const STATES = ['damaged', 'active', 'latent', 'unknown', 'clear'] as const;

export const nodeReportStatus = z
  .object({
    state: z
      .enum(STATES)
      .describe(
        'State of the worst finding: damaged, active or latent. Without one: unknown if something could ' +
          'not be determined, otherwise clear.',
      )
      .exactOptional(),
    checkTime: time
      .describe(
        'When the check behind this report ended. An unchanged report is written only every 5 minutes, so newer checks may have ended since.',
      )
      .exactOptional(),
    durationMilliseconds: count
      .describe('How long the check behind this report took.')
      .exactOptional(),
    counts: z
      .object({
        findings: count.describe('Findings that do harm, or will: all but the benign ones.'),
        damaged: count.describe('Findings whose harm is done.'),
        active: count.describe('Findings that do harm now.'),
        latent: count.describe('Findings that will do harm, for example at the next restart.'),
        benign: count.describe('Findings that are harmless on this node.'),
        unknowns: count.describe('What could not be determined.'),
      })
      .partial()
      .describe(
        'Number of findings. Those that a check could not list are counted in findings, but not by state.',
      )
      .exactOptional(),
    findings: z
      .array(reportedFinding)
      .max(REPORTED_FINDINGS_MAX)
      .describe(
        'The findings of the last checks, worst first: one is gone after two checks without it.',
      )
      .exactOptional(),
    findingsNotListed: count
      .describe('Number of findings left out, because the list has a limit.')
      .exactOptional(),
    unknowns: z
      .array(unknown)
      .max(REPORTED_UNKNOWNS_MAX)
      .describe('What the last three checks could not determine.')
      .exactOptional(),
    unknownsNotListed: count
      .describe('Number of unknowns left out, because the list has a limit.')
      .exactOptional(),
    kubeletVersion: line.describe('Version of the kubelet, for example v1.36.3.').exactOptional(),
    runtimeVersion: line
      .describe('Container runtime with its version, for example containerd://1.6.20.')
      .exactOptional(),
    kubediagVersion: line
      .describe('Version of the executor that checked the node.')
      .exactOptional(),
  })
  .describe('The last check of the node.');

export type NodeReportStatus = z.output<typeof nodeReportStatus>;
