import {
  CONTROLLER_ACCOUNT,
  CONTROLLER_LEASE,
  CONTROLLER_REPORTER,
  CORDONED_BY,
  MANAGED_BY_LABEL,
  MANAGER,
  NODE_CONDITION,
  PARENT_LABEL,
  SLOT_PREFIX,
} from '../../src/pipeline/api/cluster-names.ts';
import { GROUP, VERSION } from '../../src/pipeline/api/kinds.ts';
import { policyDocuments, type ScopeOfPolicy } from './admission-policy.ts';
import { conditionsBut, isAccount, sameExcept } from './cel.ts';
import type { ManifestDocument } from './manifest-document.ts';

interface Policy extends ScopeOfPolicy {
  /** The message follows "the controller may ". */
  readonly validations: readonly { readonly expression: string; readonly only: string }[];
}

const PROCESSOR = 'object.spec.processor';
const holderOf = (object: string) =>
  `(has(${object}.spec.holderIdentity) ? ${object}.spec.holderIdentity : '')`;

/** A Node may have none. */
const annotations = (name: string, object: string) => ({
  name,
  expression: `has(${object}.metadata.annotations) ? dyn(${object}.metadata.annotations) : dyn({})`,
});

const waitsForImage = (list: string) =>
  `has(oldObject.status.${list}) && oldObject.status.${list}.exists(c, has(c.state.waiting) && has(c.state.waiting.reason) && c.state.waiting.reason in ['ErrImagePull', 'ImagePullBackOff'])`;

const policies: readonly Policy[] = [
  {
    name: 'diagnoses',
    comment:
      'The controller creates Diagnoses for the nodes of another one, and gives a node to a Diagnosis that has\n' +
      'none.',
    group: GROUP,
    version: VERSION,
    resources: ['diagnoses'],
    validations: [
      {
        expression: `oldObject != null || has(object.metadata.labels) && '${PARENT_LABEL}' in object.metadata.labels && has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == 'Diagnosis' && o.uid == object.metadata.labels['${PARENT_LABEL}'])`,
        only: 'only create Diagnoses that belong to another one',
      },
      {
        expression: `oldObject == null || (${sameExcept('.spec', ['nodeName', 'cancel', 'suspend', 'deadlineSeconds'])})`,
        only: 'only set nodeName, cancel, suspend and deadlineSeconds of a Diagnosis',
      },
    ],
  },
  {
    name: 'operations',
    comment:
      'The controller creates the built-in Operations. One with a script, a function or a server of its own\n' +
      'would run what the agents do not bring along.',
    group: GROUP,
    version: VERSION,
    resources: ['operations'],
    validations: [
      {
        expression: [
          `!has(${PROCESSOR}.scriptRunner) && !has(${PROCESSOR}.function)`,
          ...['IP', 'Address', 'Port'].map((part) => `!has(${PROCESSOR}.external${part})`),
          // Without an address, a port is one of the pod of the agent.
          ...['address', 'port'].map(
            (part) => `(!has(${PROCESSOR}.httpServer) || !has(${PROCESSOR}.httpServer.${part}))`,
          ),
        ].join(' && '),
        only: 'only write Operations with a built-in processor',
      },
    ],
  },
  {
    name: 'built-ins',
    comment:
      'The controller updates the Operations and OperationSets that it has created, and leaves those of people\n' +
      'as they are.',
    group: GROUP,
    version: VERSION,
    resources: ['operations', 'operationsets'],
    validations: [
      {
        expression: `oldObject == null || has(oldObject.metadata.labels) && '${MANAGED_BY_LABEL}' in oldObject.metadata.labels && oldObject.metadata.labels['${MANAGED_BY_LABEL}'] == '${MANAGER}'`,
        only: `only change Operations and OperationSets that have the label ${MANAGED_BY_LABEL}=${MANAGER}`,
      },
    ],
  },
  {
    name: 'leases',
    comment:
      'The controller renews its own Lease, and creates those that limit recoveries. It holds none of these:\n' +
      'only an agent does, for its node.',
    group: 'coordination.k8s.io',
    version: 'v1',
    resources: ['leases'],
    validations: [
      {
        expression: `object.metadata.name == '${CONTROLLER_LEASE}' || object.metadata.name.startsWith('${SLOT_PREFIX}')`,
        only: `only write the Lease ${CONTROLLER_LEASE} and those for recovery`,
      },
      {
        expression: `object.metadata.name == '${CONTROLLER_LEASE}' || ${holderOf('object')} == '' || oldObject != null && ${holderOf('object')} == ${holderOf('oldObject')}`,
        only: 'only free a Lease for recovery, not take one',
      },
    ],
  },
  {
    name: 'nodes',
    comment: `Of a Node, the controller removes the condition ${NODE_CONDITION} when there is no agent any more.`,
    group: '',
    version: 'v1',
    resources: ['nodes/status'],
    validations: [
      {
        expression: [
          'oldObject != null',
          `${conditionsBut('object', NODE_CONDITION)} == ${conditionsBut('oldObject', NODE_CONDITION)}`,
          `!(has(object.status.conditions) && object.status.conditions.exists(c, c.type == '${NODE_CONDITION}'))`,
          sameExcept('', ['metadata', 'status']),
          sameExcept('.metadata', ['managedFields']),
          sameExcept('.status', ['conditions']),
        ].join(' && '),
        only: `only remove the condition ${NODE_CONDITION} of a Node`,
      },
    ],
  },
  {
    name: 'cordons',
    comment:
      'With controller-steps.yaml the controller may change Nodes: it cordons them, and notes for which Diagnosis.',
    group: '',
    version: 'v1',
    resources: ['nodes'],
    variables: [annotations('after', 'object'), annotations('before', 'oldObject')],
    validations: [
      {
        expression: [
          'oldObject != null',
          'has(object.spec.unschedulable) && object.spec.unschedulable',
          sameExcept('', ['metadata', 'spec']),
          sameExcept('.spec', ['unschedulable']),
          sameExcept('.metadata', ['managedFields', 'generation', 'annotations']),
          `variables.after.all(k, k == '${CORDONED_BY}' || k in variables.before && variables.after[k] == variables.before[k])`,
          'variables.before.all(k, k in variables.after)',
        ].join(' && '),
        only: 'only cordon a Node',
      },
    ],
  },
  {
    name: 'pods',
    comment:
      'With controller-steps.yaml the controller may delete Pods: those of StatefulSets that wait for an image.',
    group: '',
    version: 'v1',
    resources: ['pods'],
    operations: ['DELETE'],
    validations: [
      {
        expression: [
          "has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(o, o.kind == 'StatefulSet' && has(o.controller) && o.controller)",
          `(${['initContainerStatuses', 'containerStatuses'].map(waitsForImage).join(' || ')})`,
        ].join(' && '),
        only: 'only delete Pods of StatefulSets that wait for an image',
      },
    ],
  },
  {
    name: 'events',
    comment: 'The controller reports Events in its own name.',
    group: 'events.k8s.io',
    version: 'v1',
    resources: ['events'],
    validations: [
      {
        expression: `object.reportingController == '${CONTROLLER_REPORTER}'`,
        only: `only write Events whose reportingController is ${CONTROLLER_REPORTER}`,
      },
    ],
  },
];

/** They limit a stolen token of the controller to little more than the controller does. */
export const controllerPolicies: readonly ManifestDocument[] = policies.flatMap(
  ({ name, validations, ...policy }) =>
    policyDocuments({
      ...policy,
      name: `${CONTROLLER_ACCOUNT}-${name}`,
      failurePolicy: 'Fail',
      matchConditions: [{ name: 'controller', expression: isAccount(CONTROLLER_ACCOUNT) }],
      validations: validations.map(({ expression, only }) => ({
        expression,
        message: `the controller may ${only}`,
        reason: 'Forbidden' as const,
      })),
    }),
);
