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
import { PLAN_CHARACTERS_MAX, RETENTION_SECONDS_MAX, TIMEOUT_SECONDS_MAX } from './limits.ts';
import { observedGeneration } from './operation.ts';
import { graphNode, graphPaths } from './operation-set.ts';
import { type DiagnosisResult, meaningsOf, RESULTS, STEP_REASONS } from './results.ts';
import { ruled } from './rules.ts';

export const diagnosisSpec = ruled(
  z.object({
    operationSet: givenName('The OperationSet that is walked.'),
    nodeName: objectName('The node that is looked at.').exactOptional(),
    podReference: podReference.exactOptional(),
    parameters: textMap.describe('Handed to every step.').exactOptional(),
    targetSelector: targetSelector.exactOptional(),
    recovery: z
      .enum(['Automatic', 'Approval', 'Never'])
      .describe(
        'Whether steps that repair may act: by themselves (the default), when approved, or not.',
      )
      .exactOptional(),
    dryRun: flag
      .describe(
        'Steps of ours that repair tell what they would do, and do nothing. Scripts, functions and other servers are not run: their steps fail.',
      )
      .exactOptional(),
    deadlineSeconds: z
      .int()
      .min(1)
      .max(TIMEOUT_SECONDS_MAX)
      .describe('How long the whole may take from its start time.')
      .exactOptional(),
    ttlSecondsAfterFinished: z
      .int()
      .min(0)
      .max(RETENTION_SECONDS_MAX)
      .describe('How long it is kept when it has ended.')
      .exactOptional(),
    approvedPlan: text
      .max(PLAN_CHARACTERS_MAX)
      .describe(
        'With recovery "Approval": the status.plan that may be carried out; a later plan may not.',
      )
      .exactOptional(),
    suspend: flag.describe('While true, no further step is begun.').exactOptional(),
    cancel: flag
      .describe('Once true, no further step is begun, and it ends as Failed.')
      .exactOptional(),
  }),
  'What is to be looked at, and how.',
  [
    {
      holds: (spec) =>
        Boolean(spec.nodeName) ||
        spec.podReference !== undefined ||
        spec.targetSelector !== undefined,
      cel: "(has(self.nodeName) && self.nodeName != '') || has(self.podReference) || has(self.targetSelector)",
      what: 'it does not say which node is meant',
      fix: 'give it nodeName, podReference or targetSelector',
    },
  ],
);

/** The words of every KubeDiag; the last is known to all of them and was never written. */
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

/** One step as it went: the record that tells what passed, failed or never ran. */
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
    .describe('When it was the turn of this step; it may have waited before it was run.')
    .exactOptional(),
  endTime: time.exactOptional(),
});

/** What a finding is about; every field that applies. */
const subject = z.object({
  namespace: text.exactOptional(),
  pod: text.exactOptional(),
  podUid: text.exactOptional(),
  container: text.exactOptional(),
  volume: text.exactOptional(),
  mount: text.exactOptional(),
  path: text.exactOptional(),
});

const proof = z.object({
  claim: text.describe('What the line shows.'),
  text: text.describe('The line itself; the claim may be the whole of it.').exactOptional(),
  origin: text.describe('Where it was read.'),
});

const finding = z.object({
  fault: text,
  id: text,
  state: text,
  reason: text,
  summary: text,
  subject: subject.exactOptional(),
  proof: z.array(proof).describe('Lines that a sceptic can check by hand.').exactOptional(),
  proofNotListed: count
    .describe('How many such lines there were; the status has no room for them.')
    .exactOptional(),
});

const action = z.object({
  kind: text,
  fault: text.exactOptional(),
  finding: text.exactOptional(),
  summary: text.describe('Of the finding that it is for.').exactOptional(),
  description: text.describe('What is done, and to what.').exactOptional(),
  details: z.array(text).describe('What tells the thing from others.').exactOptional(),
  state: text.exactOptional(),
  endTime: time.exactOptional(),
  journalEntry: count.describe('Its number in the journal of the node.').exactOptional(),
  plan: text.describe('The plan that it waits in for approval.').exactOptional(),
  digest: text.describe('Hash of all its arguments: the approval covers them too.').exactOptional(),
  why: text.exactOptional(),
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
  endTime: time.describe('When it succeeded or failed.').exactOptional(),
  observedGeneration: observedGeneration.exactOptional(),
  adjacencyListHash: text
    .describe('Of the graph that it was begun with; with another one it ends.')
    .exactOptional(),
  checkpoint: checkpoint.describe('The step that is run now, or was run last.').exactOptional(),
  currentStep: z
    .object({
      operation: text,
      startTime: time,
      attempts: count
        .describe('How often its server was asked in vain; absent until that happens.')
        .exactOptional(),
      nextAttemptTime: time.describe('When its server is asked again.').exactOptional(),
      message: text.describe('Why the last attempt failed.').exactOptional(),
    })
    .describe('The step that it is at, and since when; gone once it has ended.')
    .exactOptional(),
  succeededPath: z.array(graphNode).exactOptional(),
  failedPaths: graphPaths.exactOptional(),
  operationResults: results.describe('What all steps found; the last writer wins.').exactOptional(),
  largeResults: z
    .array(z.object({ key: text, bytes: count, file: text }))
    .describe('Results that are too large for a status: kept beside it, and handed on whole.')
    .exactOptional(),
  nodeNames: z.array(text).exactOptional(),
  context: z
    .object({
      parameters: results.exactOptional(),
      operations: z.record(z.string(), z.record(z.string(), results)).exactOptional(),
    })
    .describe('Results by step and by node.')
    .exactOptional(),
  steps: z.array(step).describe('Every step of every path that was tried.').exactOptional(),
  stepsNotListed: count.describe('How many more there were; the list has a limit.').exactOptional(),
  findings: z.array(finding).exactOptional(),
  findingsNotListed: count.describe('How many more there were.').exactOptional(),
  plan: text
    .describe('Names the plannedActions; they wait until spec.approvedPlan says the same.')
    .exactOptional(),
  plannedActions: z.array(action).exactOptional(),
  plannedActionsNotListed: count.describe('How many more there were.').exactOptional(),
  actions: z.array(action).describe('What was done to the node, or refused.').exactOptional(),
  actionsNotListed: count
    .describe('How many more there were; the journal of the node has them all.')
    .exactOptional(),
});

export type DiagnosisSpec = z.output<typeof diagnosisSpec>;
export type DiagnosisStatus = z.output<typeof diagnosisStatus>;
