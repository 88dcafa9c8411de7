import type * as z from 'zod';
import { commonEventSpec, commonEventStatus } from './common-event.ts';
import { diagnosisSpec, diagnosisStatus } from './diagnosis.ts';
import { operationSpec } from './operation.ts';
import { operationSetSpec, operationSetStatus } from './operation-set.ts';
import { triggerSpec, triggerStatus } from './trigger.ts';

export const GROUP = 'diagnosis.kubediag.org';
export const VERSION = 'v1';
export const API_VERSION = `${GROUP}/${VERSION}`;

interface Column {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'date' | 'integer';
  readonly jsonPath: string;
  /** Shown by `kubectl get -o wide` only. */
  readonly priority?: number;
}

/** One of our kinds, as its CustomResourceDefinition describes it. */
export interface Kind {
  readonly kind: KindName;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  readonly description: string;
  readonly spec: z.ZodType;
  /** Absent where there is none. */
  readonly status?: z.ZodType;
  readonly columns: readonly Column[];
}

export type KindName = 'Operation' | 'OperationSet' | 'Diagnosis' | 'Trigger' | 'CommonEvent';

const column = (name: string, jsonPath: string, type: Column['type'] = 'string'): Column => ({
  name,
  type,
  jsonPath,
});
const age = column('Age', '.metadata.creationTimestamp', 'date');
const operationSetColumn = column('OperationSet', '.spec.operationSet');

export const kinds: readonly Kind[] = [
  {
    kind: 'Operation',
    plural: 'operations',
    shortNames: ['diagop'],
    scope: 'Cluster',
    description: 'One step of a diagnosis, and how to run it.',
    spec: operationSpec,
    columns: [age],
  },
  {
    kind: 'OperationSet',
    plural: 'operationsets',
    shortNames: ['opset'],
    scope: 'Cluster',
    description: 'A graph of Operations.',
    spec: operationSetSpec,
    status: operationSetStatus,
    columns: [column('Ready', '.status.ready', 'boolean'), age],
  },
  {
    kind: 'Diagnosis',
    plural: 'diagnoses',
    shortNames: ['diag'],
    scope: 'Namespaced',
    description: 'A run of an OperationSet on one or more nodes, and its result.',
    spec: diagnosisSpec,
    status: diagnosisStatus,
    columns: [
      operationSetColumn,
      column('NodeName', '.spec.nodeName'),
      column('PodNamespace', '.spec.podReference.namespace'),
      column('PodName', '.spec.podReference.name'),
      column('PodContainer', '.spec.podReference.container'),
      column('Phase', '.status.phase'),
      column('Result', '.status.result'),
      age,
    ],
  },
  {
    kind: 'Trigger',
    plural: 'triggers',
    shortNames: ['diagtrigger'],
    scope: 'Cluster',
    description: 'Creates a Diagnosis when an event matches.',
    spec: triggerSpec,
    status: triggerStatus,
    columns: [
      operationSetColumn,
      { ...column('Schedule', '.spec.sourceTemplate.cronTemplate.schedule'), priority: 1 },
      age,
    ],
  },
  {
    kind: 'CommonEvent',
    plural: 'commonevents',
    shortNames: ['cev'],
    scope: 'Namespaced',
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
