import * as z from 'zod';
import {
  conditions,
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
import {
  FAILED_NODES_LISTED_MAX,
  PLAN_CHARACTERS_MAX,
  RETENTION_SECONDS_MAX,
  TIMEOUT_SECONDS_MAX,
} from './limits.ts';
import { observedGeneration } from './operation.ts';
import { graphPaths, path } from './operation-set.ts';
import { RECOVERY_MODES } from './recovery-mode.ts';
import { type DiagnosisResult, meaningsOf, RESULTS, STEP_REASONS } from './results.ts';
import { type ChangeRule, ruled } from './rules.ts';

/** Somebody may have approved what it says, and its status describes it. */
function unchanged(field: string): ChangeRule {
  const [now, before] = [`self.${field}`, `oldSelf.${field}`];
  return {
    cel: `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`,
    what: `${field} cannot be changed`,
    fix: 'create another Diagnosis',
  };
}

export const diagnosisSpec = ruled(
  z.object({
    operationSet: givenName('Name of the OperationSet to run.'),
    nodeName: objectName('Node to diagnose.').exactOptional(),
    podReference: podReference.exactOptional(),
    parameters: textMap.describe('Passed to every step.').exactOptional(),
    targetSelector: targetSelector.exactOptional(),
    recovery: z
      .enum(RECOVERY_MODES)
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
      .describe(
        'Seconds after its end until the Diagnosis is deleted. On a cluster the controller deletes it.',
      )
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
  [
    ...['operationSet', 'podReference', 'parameters', 'targetSelector', 'recovery', 'dryRun'].map(
      unchanged,
    ),
    {
      cel: "!has(oldSelf.nodeName) || oldSelf.nodeName == '' || (has(self.nodeName) && self.nodeName == oldSelf.nodeName)",
      what: 'nodeName cannot be changed once it is set',
      fix: 'create another Diagnosis',
    },
    // An agent would run the graph in the Diagnosis of all nodes, and nobody would count these any more.
    {
      cel: "!has(self.targetSelector) || has(self.podReference) || !has(self.nodeName) || self.nodeName == '' || (has(oldSelf.nodeName) && self.nodeName == oldSelf.nodeName)",
      what: 'nodeName cannot be added to a Diagnosis with targetSelector',
      fix: 'create another Diagnosis with nodeName',
    },
    {
      cel: '!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)',
      what: 'cancel cannot be taken back',
      fix: 'create another Diagnosis',
    },
  ],
);

/** The phases of upstream KubeDiag, which declares the last one and never sets it. */
const PHASES = ['', 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

const pathIndex = count.describe('Position of the path in status.paths of the OperationSet.');
const nodeIndex = count.describe('Position of the step in the path.');

const checkpoint = z.object({
  pathIndex,
  nodeIndex,
  // Of a version of KubeDiag that was never released.
  desired: count.describe('Number of nodes of the step.').exactOptional(),
  active: count.describe('Number of nodes on which the step runs.').exactOptional(),
  succeeded: count.describe('Number of nodes on which it succeeded.').exactOptional(),
  failed: count.describe('Number of nodes on which it failed.').exactOptional(),
  synchronizedTasks: z.array(text).describe('Tasks that were counted.').exactOptional(),
});

/** The record of one step that succeeded, failed or did not run. */
const step = z.object({
  pathIndex,
  nodeIndex,
  operation: text.describe('Name of the Operation.'),
  outcome: z
    .enum(['Succeeded', 'Failed', 'NotRun'])
    .describe('NotRun: an earlier step of the path failed.'),
  reason: text
    .describe(
      `Why a built-in step failed, where that is not an error. ${meaningsOf(STEP_REASONS)}.`,
    )
    .exactOptional(),
  message: text.describe('Why the step failed or did not run.').exactOptional(),
  startTime: time
    .describe('When the step was due; it may have waited in a queue before it ran.')
    .exactOptional(),
  endTime: time.describe('When the step ended.').exactOptional(),
});

const action = z.object({
  kind: text.describe('Kind of the action, for example unmount.'),
  fault: text.describe('Name of the fault that it repairs.').exactOptional(),
  finding: text.describe('Id of the finding that it repairs.').exactOptional(),
  summary: text.describe('Summary of the finding that it repairs.').exactOptional(),
  description: text.describe('The action and its target.').exactOptional(),
  details: z.array(text).describe('What identifies the target.').exactOptional(),
  state: text
    .describe('done (a check afterwards saw it), refused, no-effect or failed.')
    .exactOptional(),
  endTime: time.describe('When the action ended.').exactOptional(),
  journalEntry: count.describe('Number of the entry in the journal of the node.').exactOptional(),
  plan: text.describe('The plan to which it belongs while it waits for approval.').exactOptional(),
  digest: text.describe('Hash of all arguments: the approval covers them too.').exactOptional(),
  message: text.describe('Why it was refused, failed or had no effect.').exactOptional(),
});

/** Of a Diagnosis with spec.targetSelector, which has one Diagnosis for each node. */
const nodeCounts = z
  .object({
    total: count.describe('Nodes that were selected.'),
    waiting: count.describe('Nodes whose Diagnosis was not created or has not started yet.'),
    running: count.describe('Nodes whose Diagnosis runs.'),
    succeeded: count.describe(
      'Nodes with an answer: the result of their Diagnosis is Repaired, Found, NothingFound or Completed.',
    ),
    failed: count.describe(
      'Nodes without an answer: their Diagnosis ended as Error, Refused or Cancelled, was deleted, or could not be created.',
    ),
    created: count
      .describe('Number of nodes, from the start of status.nodeNames, whose Diagnosis was created.')
      .exactOptional(),
    results: z
      .record(z.string(), count)
      .describe('Number of nodes by the result of their Diagnosis.')
      .exactOptional(),
  })
  .describe('Number of nodes by the state of their Diagnosis.');

export const diagnosisStatus = z
  .object({
    phase: z
      .enum(PHASES)
      .describe(
        'Succeeded when all steps of one path did. The result says what was found. Of several nodes: Succeeded when each of them has an answer, which may be that nothing was found.',
      )
      .exactOptional(),
    result: z
      .enum(Object.keys(RESULTS) as DiagnosisResult[])
      .describe(
        `Result of the Diagnosis; absent until it ends or waits for approval. ${meaningsOf(RESULTS)}. Of several nodes: the first that any of them has, in the order Cancelled, Error, Refused, Found, Repaired, Completed, NothingFound.`,
      )
      .exactOptional(),
    conditions: conditions.exactOptional(),
    startTime: time
      .describe(
        'When the Diagnosis became Pending, also if it is suspended. The deadline counts from then.',
      )
      .exactOptional(),
    endTime: time.describe('When the Diagnosis succeeded or failed.').exactOptional(),
    observedGeneration: observedGeneration.exactOptional(),
    adjacencyListHash: text
      .describe('Hash of the graph at the start; the Diagnosis fails when the graph changes.')
      .exactOptional(),
    checkpoint: checkpoint.describe('The current or the last step.').exactOptional(),
    currentStep: z
      .object({
        operation: text.describe('Name of the Operation.'),
        startTime: time.describe('When the step was due.'),
        attempts: count.describe('Number of failed requests to its server.').exactOptional(),
        nextAttemptTime: time.describe('Time of the next request.').exactOptional(),
        message: text.describe('Why the last attempt failed.').exactOptional(),
      })
      .describe('The current step, and since when; absent after the end.')
      .exactOptional(),
    succeededPath: path.describe('The steps of the current path that succeeded.').exactOptional(),
    failedPaths: graphPaths.describe('The paths that failed.').exactOptional(),
    operationResults: results
      .describe('Results of all steps; the last writer wins.')
      .exactOptional(),
    largeResults: z
      .array(
        z.object({
          key: text.describe('Key of the result.'),
          bytes: count.describe('Size of the result.'),
          file: text.describe('Name of the file that has it.'),
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
    files: z
      .array(
        z.object({
          name: text.describe('Kind and name of the file, for example captures/pod.pcap.'),
          bytes: count.describe('Size of the file.'),
          file: text.describe('Name of the file on the node.'),
          sha256: text.describe('SHA-256 digest of the file.'),
          accessKey: text.describe(
            'The agent of the node serves the file only to clients that send this key.',
          ),
          message: text.describe('How to fetch the file.'),
        }),
      )
      .describe(
        'Files that steps stored on the node: profiles, captures, dumps, and bundles with evidence. The agent serves them until the Diagnosis is deleted.',
      )
      .exactOptional(),
    filesNotListed: count.describe('Number of files left out.').exactOptional(),
    nodeNames: z
      .array(text)
      .describe('The nodes that are diagnosed, chosen once at the start.')
      .exactOptional(),
    nodes: nodeCounts.exactOptional(),
    progress: text
      .describe('Nodes that have ended, of all selected nodes, for example 37/120.')
      .exactOptional(),
    failedNodes: z
      .array(
        z.object({
          name: text.describe('Name of the node; of a pod without a node: its namespace and name.'),
          diagnosis: text.describe('Name of its Diagnosis.').exactOptional(),
          message: text.describe('Why it failed.'),
        }),
      )
      .max(FAILED_NODES_LISTED_MAX)
      .describe('The first of the nodes that failed; status.nodes counts all of them.')
      .exactOptional(),
    context: z
      .object({
        parameters: results.describe('Not set.').exactOptional(),
        operations: z
          .record(z.string(), z.record(z.string(), results))
          .describe('The results of each step (PATH.STEP.OPERATION), by node.')
          .exactOptional(),
      })
      .describe('Results by step and by node.')
      .exactOptional(),
    steps: z.array(step).describe('Every step of every path that ran.').exactOptional(),
    stepsNotListed: count
      .describe('Number of steps left out; the list has a limit.')
      .exactOptional(),
    findings: z.array(findingOf(text)).describe('What the built-in steps found.').exactOptional(),
    findingsNotListed: count.describe('Number of findings left out.').exactOptional(),
    plan: text
      .describe(
        'Name of the planned actions; they wait until spec.approvedPlan has the same value.',
      )
      .exactOptional(),
    planRequiredBy: z
      .enum(['Diagnosis', 'RecoveryPolicy'])
      .describe('Which of the two requires the approval of the plan.')
      .exactOptional(),
    plannedActions: z
      .array(action)
      .describe('Actions that would repair the node: with dryRun, or while they wait for approval.')
      .exactOptional(),
    plannedActionsNotListed: count.describe('Number of planned actions left out.').exactOptional(),
    actions: z.array(action).describe('Actions on the node, and refused ones.').exactOptional(),
    actionsNotListed: count
      .describe('Number of actions left out; the journal of the node has all of them.')
      .exactOptional(),
  })
  .describe(
    'How far the Diagnosis is, and what it found and did. The agent of its node writes it, and the controller where no agent can.',
  );

export type DiagnosisSpec = z.output<typeof diagnosisSpec>;
export type DiagnosisStatus = z.output<typeof diagnosisStatus>;
