import * as z from 'zod';
import {
  condition,
  count,
  flag,
  givenName,
  objectName,
  podReference,
  results,
  targetSelector,
  text,
  textMap,
  time,
} from './fields.ts';
import { findingOf } from './finding.ts';
import { PLAN_CHARACTERS_MAX, RETENTION_SECONDS_MAX, TIMEOUT_SECONDS_MAX } from './limits.ts';
import { observedGeneration } from './operation.ts';
import { graphNode, graphPaths } from './operation-set.ts';
import { type DiagnosisResult, meaningsOf, RESULTS, STEP_REASONS } from './results.ts';
import { ruled } from './rules.ts';

export const diagnosisSpec = ruled(
  z.object({
    operationSet: givenName('Name of the OperationSet to run.'),
    nodeName: objectName('Node to diagnose.').exactOptional(),
    podReference: podReference.exactOptional(),
    parameters: textMap.describe('Passed to every step.').exactOptional(),
    targetSelector: targetSelector.exactOptional(),
    recovery: z
      .enum(['Automatic', 'Approval', 'Never'])
      .describe(
        'Whether steps may repair the node: on their own (Automatic, the default), after approval, or never.',
      )
      .exactOptional(),
    dryRun: flag
      .describe(
        'Built-in steps only report what they would repair. Steps with scripts, functions and other servers do not run, and fail.',
      )
      .exactOptional(),
    deadlineSeconds: z
      .int()
      .min(1)
      .max(TIMEOUT_SECONDS_MAX)
      .describe('Deadline in seconds, counted from status.startTime.')
      .exactOptional(),
    ttlSecondsAfterFinished: z
      .int()
      .min(0)
      .max(RETENTION_SECONDS_MAX)
      .describe('Seconds after its end until the Diagnosis is deleted.')
      .exactOptional(),
    approvedPlan: text
      .max(PLAN_CHARACTERS_MAX)
      .describe(
        'With recovery "Approval": the status.plan to execute. A later plan needs a new approval.',
      )
      .exactOptional(),
    suspend: flag.describe('While true, no further step starts.').exactOptional(),
    cancel: flag
      .describe('Once true, no further step starts, and the Diagnosis ends as Failed.')
      .exactOptional(),
  }),
  'What to diagnose, and how.',
  [
    {
      holds: (spec) =>
        Boolean(spec.nodeName) ||
        spec.podReference !== undefined ||
        spec.targetSelector !== undefined,
      cel: "(has(self.nodeName) && self.nodeName != '') || has(self.podReference) || has(self.targetSelector)",
      what: 'no target',
      fix: 'set nodeName, podReference or targetSelector',
    },
  ],
);

/** The phases of upstream KubeDiag, which declares the last one and never sets it. */
const PHASES = ['', 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

const checkpoint = z.object({
  pathIndex: count,
  nodeIndex: count,
  desired: count.exactOptional(),
  active: count.exactOptional(),
  succeeded: count.exactOptional(),
  failed: count.exactOptional(),
  synchronizedTasks: z.array(text).exactOptional(),
});

/** The record of one step that succeeded, failed or did not run. */
const step = z.object({
  pathIndex: count,
  nodeIndex: count,
  operation: text,
  outcome: z.enum(['Succeeded', 'Failed', 'NotRun']),
  reason: text
    .describe(
      `Why a built-in step failed, where that is not an error. ${meaningsOf(STEP_REASONS)}.`,
    )
    .exactOptional(),
  message: text.exactOptional(),
  startTime: time
    .describe('When the step was due; it may have waited in a queue before it ran.')
    .exactOptional(),
  endTime: time.exactOptional(),
});

const action = z.object({
  kind: text,
  fault: text.exactOptional(),
  finding: text.exactOptional(),
  summary: text.describe('Summary of the finding that it repairs.').exactOptional(),
  description: text.describe('The action and its target.').exactOptional(),
  details: z.array(text).describe('What identifies the target.').exactOptional(),
  state: text.exactOptional(),
  endTime: time.exactOptional(),
  journalEntry: count.describe('Number of the entry in the journal of the node.').exactOptional(),
  plan: text.describe('The plan to which it belongs while it waits for approval.').exactOptional(),
  digest: text.describe('Hash of all arguments: the approval covers them too.').exactOptional(),
  message: text.describe('Why it was refused, failed or had no effect.').exactOptional(),
});

export const diagnosisStatus = z.object({
  phase: z.enum(PHASES).exactOptional(),
  result: z
    .enum(Object.keys(RESULTS) as DiagnosisResult[])
    .describe(
      `Result of the Diagnosis; absent until it ends or waits for approval. ${meaningsOf(RESULTS)}.`,
    )
    .exactOptional(),
  conditions: z.array(condition).exactOptional(),
  startTime: time.exactOptional(),
  endTime: time.describe('When the Diagnosis succeeded or failed.').exactOptional(),
  observedGeneration: observedGeneration.exactOptional(),
  adjacencyListHash: text
    .describe('Hash of the graph at the start; the Diagnosis fails when the graph changes.')
    .exactOptional(),
  checkpoint: checkpoint.describe('The current or the last step.').exactOptional(),
  currentStep: z
    .object({
      operation: text,
      startTime: time,
      attempts: count.describe('Number of failed requests to its server.').exactOptional(),
      nextAttemptTime: time.describe('Time of the next request.').exactOptional(),
      message: text.describe('Why the last attempt failed.').exactOptional(),
    })
    .describe('The current step, and since when; absent after the end.')
    .exactOptional(),
  succeededPath: z.array(graphNode).exactOptional(),
  failedPaths: graphPaths.exactOptional(),
  operationResults: results.describe('Results of all steps; the last writer wins.').exactOptional(),
  largeResults: z
    .array(
      z.object({
        key: text,
        bytes: count,
        file: text,
        sha256: text.describe('SHA-256 digest of the value.').exactOptional(),
        accessKey: text
          .describe('The agent of the node serves the value only to clients that send this key.')
          .exactOptional(),
      }),
    )
    .describe(
      'Results that are too large for a status: stored separately, and passed to later steps in full.',
    )
    .exactOptional(),
  nodeNames: z.array(text).exactOptional(),
  context: z
    .object({
      parameters: results.exactOptional(),
      operations: z.record(z.string(), z.record(z.string(), results)).exactOptional(),
    })
    .describe('Results by step and by node.')
    .exactOptional(),
  steps: z.array(step).describe('Every step of every path that ran.').exactOptional(),
  stepsNotListed: count.describe('Number of steps left out; the list has a limit.').exactOptional(),
  findings: z.array(findingOf(text)).describe('What the built-in steps found.').exactOptional(),
  findingsNotListed: count.describe('Number of findings left out.').exactOptional(),
  plan: text
    .describe('Name of the planned actions; they wait until spec.approvedPlan has the same value.')
    .exactOptional(),
  plannedActions: z.array(action).exactOptional(),
  plannedActionsNotListed: count.describe('Number of planned actions left out.').exactOptional(),
  actions: z.array(action).describe('Actions on the node, and refused ones.').exactOptional(),
  actionsNotListed: count
    .describe('Number of actions left out; the journal of the node has all of them.')
    .exactOptional(),
});

export type DiagnosisSpec = z.output<typeof diagnosisSpec>;
export type DiagnosisStatus = z.output<typeof diagnosisStatus>;
