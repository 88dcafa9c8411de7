import * as z from 'zod';
import { conditions, count, flag, text, time } from './fields.ts';
import {
  CONCURRENT_NODES_MAX,
  FAILURES_LISTED_MAX,
  FAULTS_NAMED_MAX,
  NODES_IN_RECOVERY_LISTED_MAX,
  REPORTED_TEXT_MAX,
  SCHEDULE_CHARACTERS_MAX,
  TIMEOUT_SECONDS_MAX,
  WINDOWS_MAX,
} from './limits.ts';
import { observedGeneration } from './operation.ts';
import { RECOVERY_MODES } from './recovery-mode.ts';
import { patterned, ruled } from './rules.ts';

// 10%
const PERCENT = /^([1-9][0-9]?|100)%$/;

const isNodeCount = (value: number | string) =>
  typeof value === 'number' ? value >= 1 && value <= CONCURRENT_NODES_MAX : PERCENT.test(value);

const NODE_COUNT = {
  what: 'not a number of nodes',
  fix: `use a number from 1 to ${CONCURRENT_NODES_MAX}, or a percentage such as "10%"`,
};

const maxConcurrentNodes = z
  .union([z.int(), z.string()])
  .refine(isNodeCount, { error: NODE_COUNT.what, params: { fix: NODE_COUNT.fix } })
  .meta({
    'x-kubernetes-int-or-string': true,
    'x-kubernetes-validations': [
      {
        rule: `type(self) == int ? self >= 1 && self <= ${CONCURRENT_NODES_MAX} : self.matches(r'${PERCENT.source}')`,
        message: `${NODE_COUNT.what}: ${NODE_COUNT.fix}`,
      },
    ],
  });

const maintenanceWindow = z.object({
  schedule: text
    .min(1)
    .max(SCHEDULE_CHARACTERS_MAX)
    .describe('When the window begins, as a cron expression with five fields: "0 2 * * 1-5".'),
  timeZone: patterned(text.max(64), /^[A-Za-z0-9_+-]+([/][A-Za-z0-9_+-]+)*$/, {
    what: 'not the name of a time zone',
    fix: 'use a name such as "Europe/Berlin" or "UTC"',
  })
    .describe('Time zone of the schedule, for example Europe/Berlin; UTC when absent.')
    .exactOptional(),
  durationSeconds: z
    .int()
    .min(60)
    .max(TIMEOUT_SECONDS_MAX)
    .describe('How long the window lasts. A recovery that has begun may end after it.'),
});

const faultRecovery = z.object({
  name: text.min(1).max(REPORTED_TEXT_MAX).describe('Name of the fault.'),
  recovery: z
    .enum(RECOVERY_MODES)
    .describe(
      'The stricter of this and spec.recovery of the Diagnosis applies; Never is stricter than Approval.',
    ),
});

export const recoveryPolicySpec = ruled(
  z.object({
    maxConcurrentNodes: maxConcurrentNodes
      .describe(
        'Nodes that may be in recovery at once: a number, or a percentage of all nodes, rounded down but at least 1. 1 when absent.',
      )
      .exactOptional(),
    paused: flag.describe('While true, no recovery begins on any node.').exactOptional(),
    maintenanceWindows: z
      .array(maintenanceWindow)
      .max(WINDOWS_MAX)
      .describe('Recoveries begin only within one of these windows; at any time without one.')
      .exactOptional(),
    stopAfterFailures: z
      .int()
      .min(1)
      .max(FAILURES_LISTED_MAX)
      .describe(
        'Number of failed recoveries after which no further one begins, until failuresResetTime is set. 3 when absent.',
      )
      .exactOptional(),
    failuresResetTime: time
      .describe(
        'Failures up to this time do not count. Set it to the current time to let recoveries begin again.',
      )
      .exactOptional(),
    faults: z
      .array(faultRecovery)
      .max(FAULTS_NAMED_MAX)
      .describe('Faults that are repaired after approval only, or never.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
      .exactOptional(),
    withoutAdmissionPolicies: z
      .enum(['Allow', 'Deny'])
      .describe(
        'Whether agents repair nodes while the API server does not enforce the rights of KubeDiag: it is older than v1.30, or an admission policy is missing or was changed. Deny when absent.',
      )
      .exactOptional(),
  }),
  'When agents may repair their nodes. Only the policy named "default" has an effect.',
  [],
);

const nodeInRecovery = z.object({
  nodeName: text.describe('Name of the node.'),
  lease: text.describe('The Lease that its agent holds.'),
  since: time.describe('When the agent acquired the Lease.').exactOptional(),
});

const failedRecovery = z.object({
  nodeName: text.describe('Name of the node.'),
  diagnosis: text.describe('Namespace and name of the Diagnosis.'),
  uid: text.describe('UID of the Diagnosis.'),
  time: time.describe('When the recovery failed.'),
});

export const recoveryPolicyStatus = z
  .object({
    slots: count
      .describe('Nodes that may be in recovery at once; there is a Lease for each.')
      .exactOptional(),
    nodesInRecovery: z
      .array(nodeInRecovery)
      .max(NODES_IN_RECOVERY_LISTED_MAX)
      .describe('The nodes whose agents hold a Lease for recovery.')
      .exactOptional(),
    failures: z
      .array(failedRecovery)
      .max(FAILURES_LISTED_MAX)
      .describe('The failed recoveries that count, latest last.')
      .exactOptional(),
    rightsEnforcedSince: time
      .describe(
        'When the admission policies that check the authors of Diagnoses were created. Diagnoses that are older repair no node.',
      )
      .exactOptional(),
    conditions: conditions.exactOptional(),
    observedGeneration: observedGeneration.exactOptional(),
  })
  .describe('Whether recoveries may begin now, and where they run. The controller writes it.');

export type RecoveryPolicySpec = z.output<typeof recoveryPolicySpec>;
export type RecoveryPolicyStatus = z.output<typeof recoveryPolicyStatus>;
export type FailedRecovery = z.output<typeof failedRecovery>;
