import {
  AGENT_ACCOUNT,
  AGENT_REPORTER,
  CONTROLLER_LEASE,
  FAILURES_ANNOTATION,
  NODE_CONDITION,
  NODE_NAME_CLAIM,
  SLOT_PREFIX,
} from '../../src/pipeline/api/cluster-names.ts';
import { GROUP, VERSION } from '../../src/pipeline/api/kinds.ts';
import { type Expression, policyDocuments, type ScopeOfPolicy } from './admission-policy.ts';
import { conditionsBut, isAccount, sameExcept } from './cel.ts';
import type { ManifestDocument } from './manifest-document.ts';

interface Policy extends ScopeOfPolicy {
  /** In addition: the token names a node. */
  readonly validations: readonly Validation[];
}

interface Validation {
  readonly expression: string;
  /** After "node NODE: ", as a CEL string. */
  readonly why: string;
}

const holderOf = (object: string) =>
  `(has(${object}.spec) && has(${object}.spec.holderIdentity) ? ${object}.spec.holderIdentity : '')`;

const annotationsOf = (object: string) =>
  `(has(${object}.metadata.annotations) ? dyn(${object}.metadata.annotations) : dyn({}))`;

const finalizersOf = (object: string) =>
  `(${object} != null && has(${object}.metadata.finalizers) ? ${object}.metadata.finalizers : [])`;

/** An object with a finalizer that nobody removes would block the removal of KubeDiag, or of a namespace. */
const sameFinalizers: Validation = {
  expression: `${finalizersOf('object')} == ${finalizersOf('oldObject')}`,
  why: "'the agent may not change finalizers'",
};

/** The same for a map that may be absent: absent is empty. */
function sameMapExcept(mapOf: (object: string) => string, key: string): string {
  const [now, before] = [mapOf('object'), mapOf('oldObject')];
  return [
    `${now}.all(k, k == '${key}' || (k in ${before} && ${now}[k] == ${before}[k]))`,
    `${before}.all(k, k == '${key}' || k in ${now})`,
  ].join(' && ');
}

const policies: readonly Policy[] = [
  {
    name: 'diagnoses',
    comment: 'An agent writes the status of the Diagnoses of its node.',
    group: GROUP,
    version: VERSION,
    resources: ['diagnoses', 'diagnoses/status'],
    validations: [
      {
        expression:
          'oldObject != null && has(oldObject.spec.nodeName) && oldObject.spec.nodeName == variables.node',
        why: "'the agent may not write Diagnosis ' + request.name + ', which is not of this node'",
      },
    ],
  },
  {
    name: 'nodereports',
    comment: 'An agent writes the NodeReport that has the name of its node.',
    group: GROUP,
    version: VERSION,
    resources: ['nodereports', 'nodereports/status'],
    validations: [
      {
        expression: 'object.metadata.name == variables.node',
        why: "'the agent may not write NodeReport ' + object.metadata.name",
      },
      sameFinalizers,
    ],
  },
  {
    name: 'leases',
    comment:
      'An agent renews the Lease that has the name of its node. It takes and releases a Lease for recovery, and\n' +
      'creates none and takes none from another node.',
    group: 'coordination.k8s.io',
    version: 'v1',
    resources: ['leases'],
    variables: [
      { name: 'isSlot', expression: `object.metadata.name.startsWith('${SLOT_PREFIX}')` },
      {
        name: 'isUpdateOfSlot',
        expression: 'variables.isSlot && oldObject != null',
      },
    ],
    validations: [
      {
        // A Node may have the name of the Lease by which the controllers choose their leader.
        expression: `variables.isSlot ? oldObject != null : object.metadata.name == variables.node && variables.node != '${CONTROLLER_LEASE}'`,
        why: "'the agent may not write Lease ' + object.metadata.name",
      },
      sameFinalizers,
      {
        expression: `!variables.isUpdateOfSlot || ${holderOf('oldObject')} in ['', variables.node]`,
        why: `'another node holds Lease ' + object.metadata.name`,
      },
      {
        expression: `!variables.isUpdateOfSlot || ${holderOf('object')} in ['', variables.node]`,
        why: "'the agent may hold a Lease only for its own node'",
      },
      {
        expression: `!variables.isUpdateOfSlot || (${[
          sameExcept('', ['metadata', 'spec']),
          sameExcept('.metadata', ['managedFields', 'annotations']),
          sameMapExcept(annotationsOf, FAILURES_ANNOTATION),
        ].join(' && ')})`,
        why: `'of a Lease for recovery, the agent may only write the spec and the annotation ${FAILURES_ANNOTATION}'`,
      },
    ],
  },
  {
    name: 'nodes',
    comment: `An agent changes the condition ${NODE_CONDITION} of its own Node, and nothing else of it.`,
    group: '',
    version: 'v1',
    resources: ['nodes', 'nodes/status'],
    validations: [
      {
        expression: 'oldObject != null && object.metadata.name == variables.node',
        why: "'the agent may not write Node ' + object.metadata.name",
      },
      {
        expression: `${conditionsBut('object', NODE_CONDITION)} == ${conditionsBut('oldObject', NODE_CONDITION)}`,
        why: `'of the conditions of its Node, the agent may only write ${NODE_CONDITION}'`,
      },
      {
        expression: [
          sameExcept('', ['metadata', 'status']),
          sameExcept('.metadata', ['managedFields']),
          sameExcept('.status', ['conditions']),
        ].join(' && '),
        why: `'of its Node, the agent may only write the condition ${NODE_CONDITION}'`,
      },
    ],
  },
  {
    name: 'events',
    comment:
      'An agent reports Events in its own name, about its Node and about pods. That a pod runs on the node\n' +
      'cannot be checked here.',
    group: 'events.k8s.io',
    version: 'v1',
    resources: ['events'],
    variables: [
      // The longest that an Event may have.
      {
        name: 'instance',
        expression:
          'size(variables.node) > 128 ? variables.node.substring(0, 128) : variables.node',
      },
    ],
    validations: [
      {
        expression:
          'object.reportingInstance == variables.instance && (oldObject == null || oldObject.reportingInstance == variables.instance)',
        why: "'the agent may only write Events whose reportingInstance is its node'",
      },
      {
        expression: `object.reportingController == '${AGENT_REPORTER}'`,
        why: `'the agent may only write Events whose reportingController is ${AGENT_REPORTER}'`,
      },
      {
        expression:
          "has(object.regarding) && (object.regarding.kind == 'Pod' || object.regarding.kind == 'Node' && object.regarding.name == variables.node)",
        why: "'the agent may only report Events about its Node and about pods'",
      },
      sameFinalizers,
    ],
  },
];

const CLAIM = `request.userInfo.extra['${NODE_NAME_CLAIM}']`;
const node: Expression = {
  name: 'node',
  expression: `has(request.userInfo.extra) && '${NODE_NAME_CLAIM}' in request.userInfo.extra ? ${CLAIM}[0] : ''`,
};

/** With these policies an agent writes only objects of the node that its token names. */
export const agentPolicies: readonly ManifestDocument[] = policies.flatMap(
  ({ name, variables = [], validations, ...policy }) =>
    policyDocuments({
      ...policy,
      name: `${AGENT_ACCOUNT}-${name}`,
      failurePolicy: 'Fail',
      matchConditions: [{ name: 'agent', expression: isAccount(AGENT_ACCOUNT) }],
      variables: [node, ...variables],
      validations: [
        {
          expression: "variables.node != ''",
          message: 'the token of the agent is not bound to a node: it may not write',
          reason: 'Forbidden',
        },
        ...validations.map(({ expression, why }) => ({
          expression,
          messageExpression: `'node ' + variables.node + ': ' + ${why}`,
          reason: 'Forbidden' as const,
        })),
      ],
    }),
);
