import type * as z from 'zod';
import { commonEventSpec, commonEventStatus } from './common-event.ts';
import { diagnosisSpec, diagnosisStatus } from './diagnosis.ts';
import {
  API_VERSION,
  GROUP,
  KIND_NAMES,
  type KindName,
  RECOVERY_POLICIES,
  VERSION,
} from './kind-names.ts';
import { nodeReportStatus } from './node-report.ts';
import { operationSpec } from './operation.ts';
import { operationSetSpec, operationSetStatus } from './operation-set.ts';
import { recoveryPolicySpec, recoveryPolicyStatus } from './recovery-policy.ts';
import { triggerSpec, triggerStatus } from './trigger.ts';

export { API_VERSION, GROUP, type KindName, VERSION };

interface Column {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'date' | 'integer';
  readonly jsonPath: string;
  /** Shown by `kubectl get -o wide` only. */
  readonly priority?: number;
}

/** What the CustomResourceDefinition of a kind says. */
export interface DefinedKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  readonly description: string;
  /** Absent where a person has nothing to say. */
  readonly spec?: z.ZodType;
  /** Absent where there is none. */
  readonly status?: z.ZodType;
  readonly columns: readonly Column[];
  /** Fields for `kubectl get --field-selector`, and for watches. */
  readonly selectableFields?: readonly string[];
}

/** A kind whose objects people write. */
export interface Kind extends DefinedKind {
  readonly kind: KindName;
  readonly spec: z.ZodType;
}

const column = (name: string, jsonPath: string, type: Column['type'] = 'string'): Column => ({
  name,
  type,
  jsonPath,
});
const wide = (name: string, jsonPath: string, type?: Column['type']): Column => ({
  ...column(name, jsonPath, type),
  priority: 1,
});
const age = column('Age', '.metadata.creationTimestamp', 'date');
const operationSetColumn = column('OperationSet', '.spec.operationSet');

export const kinds: readonly Kind[] = [
  {
    kind: 'Operation',
    ...KIND_NAMES.Operation,
    shortNames: ['diagop'],
    description: 'One step of a diagnosis, and how to run it.',
    spec: operationSpec,
    columns: [age],
  },
  {
    kind: 'OperationSet',
    ...KIND_NAMES.OperationSet,
    shortNames: ['opset'],
    description: 'A graph of Operations.',
    spec: operationSetSpec,
    status: operationSetStatus,
    columns: [column('Ready', '.status.ready', 'boolean'), age],
  },
  {
    kind: 'Diagnosis',
    ...KIND_NAMES.Diagnosis,
    shortNames: ['diag'],
    description: 'A run of an OperationSet on one or more nodes, and its result.',
    spec: diagnosisSpec,
    status: diagnosisStatus,
    columns: [
      operationSetColumn,
      column('NodeName', '.spec.nodeName'),
      // Those of upstream KubeDiag too, but a row of the usual names must fit into 120 columns.
      wide('PodNamespace', '.spec.podReference.namespace'),
      wide('PodName', '.spec.podReference.name'),
      wide('PodContainer', '.spec.podReference.container'),
      column('Phase', '.status.phase'),
      column('Result', '.status.result'),
      column('Nodes', '.status.progress'),
      age,
    ],
    selectableFields: ['.spec.nodeName'],
  },
  {
    kind: 'Trigger',
    ...KIND_NAMES.Trigger,
    shortNames: ['diagtrigger'],
    description: 'Creates a Diagnosis when an event matches.',
    spec: triggerSpec,
    status: triggerStatus,
    columns: [
      operationSetColumn,
      wide('Schedule', '.spec.sourceTemplate.cronTemplate.schedule'),
      age,
    ],
  },
  {
    kind: 'CommonEvent',
    ...KIND_NAMES.CommonEvent,
    shortNames: ['cev'],
    description: 'An event of another system, in the PagerDuty common event format.',
    spec: commonEventSpec,
    status: commonEventStatus,
    columns: [
      column('Severity', '.spec.severity'),
      column('Source', '.spec.source'),
      column('Count', '.status.count', 'integer'),
      age,
    ],
  },
];

/**
 * Not one of `kinds`: the agent of a node writes it for the cluster. `kubediag serve` does not serve
 * it, because there `kubediag check` answers the same question at once.
 */
const nodeReport: DefinedKind = {
  kind: 'NodeReport',
  plural: 'nodereports',
  shortNames: ['nr'],
  scope: 'Cluster',
  description:
    'The last check of a node, written by its agent. It has the name of the node and is deleted with it.',
  status: nodeReportStatus,
  columns: [
    column('State', '.status.state'),
    column('Findings', '.status.counts.findings', 'integer'),
    column('Unknowns', '.status.counts.unknowns', 'integer'),
    column('Kubelet', '.status.kubeletVersion'),
    wide('Runtime', '.status.runtimeVersion'),
    wide('KubeDiag', '.status.kubediagVersion'),
    wide('Worst', '.status.findings[0].summary'),
    column('Checked', '.status.checkTime', 'date'),
  ],
};

/** Not one of `kinds` either: it limits how many nodes of a cluster are repaired, and when. */
const recoveryPolicy: DefinedKind = {
  kind: 'RecoveryPolicy',
  plural: RECOVERY_POLICIES,
  shortNames: ['recpol'],
  scope: 'Cluster',
  description:
    'When agents may repair their nodes, and how many at once. Only the one named "default" has an effect.',
  spec: recoveryPolicySpec,
  status: recoveryPolicyStatus,
  columns: [
    column('Max', '.status.slots', 'integer'),
    column('Paused', '.spec.paused', 'boolean'),
    column('Permitted', ".status.conditions[?(@.type=='RecoveryPermitted')].status"),
    column('Reason', ".status.conditions[?(@.type=='RecoveryPermitted')].reason"),
    age,
  ],
};

/** Every kind that a cluster needs. */
export const clusterKinds: readonly DefinedKind[] = [...kinds, nodeReport, recoveryPolicy];
