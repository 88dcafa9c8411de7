import {
  AUTHOR_POLICY,
  PARENT_LABEL,
  RIGHTS_PROBE,
  VERBS,
} from '../../src/pipeline/api/cluster-names.ts';
import { GROUP, VERSION } from '../../src/pipeline/api/kinds.ts';
import { type AdmissionPolicy, policyDocuments } from './admission-policy.ts';
import type { ManifestDocument } from './manifest-document.ts';

const ours = `authorizer.group('${GROUP}')`;

/** In the namespace for one of its pods, and in the whole cluster for everything else: others work there as well. */
function mayOn(verb: string): string {
  const diagnoses = `${ours}.resource('diagnoses')`;
  const check = `check('${verb}').allowed()`;
  return `variables.isOfOwnPod ? ${diagnoses}.namespace(request.namespace).${check} : ${diagnoses}.${check}`;
}

/** In the spec of the object or of the old one: what is absent and what is empty mean the same. */
const textOf = (object: string, field: string) =>
  `has(${object}.spec.${field}) ? ${object}.spec.${field} : ''`;
const before = (expression: string) => `variables.isNew ? '' : (${expression})`;

const isTrue = (object: string, field: string) =>
  `has(${object}.spec.${field}) && ${object}.spec.${field}`;
const REPAIRS_ALONE = `(!has(object.spec.recovery) || object.spec.recovery == 'Automatic') && !(${isTrue('object', 'dryRun')})`;

const PARENT = `metadata.labels['${PARENT_LABEL}']`;
const parentOf = (object: string) =>
  `has(${object}.metadata.labels) && '${PARENT_LABEL}' in ${object}.metadata.labels ? ${object}.${PARENT} : ''`;

const needs = (verb: string, resource: string) => `' (the verb "${verb}" on ${resource}.${GROUP})'`;

/** The condition under which no verb is needed, the verb, and the message: "user USER may not ...: FIX". */
function asked(isHarmless: string, mayDo: string, what: string, verb: string, fix: string) {
  const messageExpression = `'user ' + request.userInfo.username + ' may not ' + ${what} + ${verb} + ': ${fix}'`;
  return {
    expression: `${isHarmless} || ${mayDo}`,
    messageExpression,
    reason: 'Forbidden' as const,
  };
}

const WHERE = 'variables.where';
const ON_NODES = needs(VERBS.diagnose, 'nodes');

/**
 * Only what is new or changed is compared: who may update a Diagnosis can still label, cancel or suspend
 * every one. What a Diagnosis is about cannot change, and a cancelled one stays so: rules of the CRD.
 */
const policy: AdmissionPolicy = {
  name: AUTHOR_POLICY,
  comment:
    'Who may create Diagnoses needs a further right for what can do harm to others. RBAC has no word for a\n' +
    'field, so this policy asks it for verbs of our own: recover, approve, diagnose. See docs/rights.md.',
  group: GROUP,
  version: VERSION,
  resources: ['diagnoses'],
  failurePolicy: 'Fail',
  variables: [
    { name: 'isNew', expression: 'oldObject == null' },
    { name: 'plan', expression: textOf('object', 'approvedPlan') },
    { name: 'oldPlan', expression: before(textOf('oldObject', 'approvedPlan')) },
    { name: 'nodeName', expression: textOf('object', 'nodeName') },
    { name: 'oldNodeName', expression: before(textOf('oldObject', 'nodeName')) },
    { name: 'parent', expression: parentOf('object') },
    { name: 'oldParent', expression: before(parentOf('oldObject')) },
    {
      name: 'isOfOwnPod',
      expression:
        'has(object.spec.podReference) && object.spec.podReference.namespace == request.namespace && !has(object.spec.targetSelector)',
    },
    {
      name: 'where',
      expression:
        "variables.isOfOwnPod ? ' in namespace ' + request.namespace : ' in the whole cluster'",
    },
    { name: 'repairsAlone', expression: REPAIRS_ALONE },
    {
      name: 'isResumed',
      expression: `!variables.isNew && ${isTrue('oldObject', 'suspend')} && !(${isTrue('object', 'suspend')})`,
    },
    { name: 'mayRecover', expression: mayOn(VERBS.recover) },
    { name: 'mayApprove', expression: mayOn(VERBS.approve) },
    {
      name: 'mayDiagnoseNodes',
      expression: `${ours}.resource('nodes').check('${VERBS.diagnose}').allowed()`,
    },
  ],
  validations: [
    {
      expression: `!has(object.metadata.name) || object.metadata.name != '${RIGHTS_PROBE}'`,
      message: `the name ${RIGHTS_PROBE} is refused: so the controller sees that this policy is in force`,
      reason: 'Forbidden' as const,
    },
    asked(
      '!variables.isNew || !variables.repairsAlone',
      'variables.mayRecover',
      `'let a Diagnosis repair nodes on its own' + ${WHERE}`,
      needs(VERBS.recover, 'diagnoses'),
      'set spec.recovery to Approval or Never',
    ),
    asked(
      '!variables.isResumed || !variables.repairsAlone',
      'variables.mayRecover',
      `'resume a Diagnosis that repairs nodes on its own' + ${WHERE}`,
      needs(VERBS.recover, 'diagnoses'),
      'ask somebody who may, or create another one with spec.recovery Approval or Never',
    ),
    // To withdraw an approval needs no right.
    asked(
      "variables.plan == '' || variables.plan == variables.oldPlan",
      'variables.mayApprove',
      `'approve a plan' + ${WHERE}`,
      needs(VERBS.approve, 'diagnoses'),
      'leave spec.approvedPlan out and ask somebody who may approve it',
    ),
    // Also beside a podReference, also later: the controller finds the node of a pod.
    asked(
      'variables.nodeName == variables.oldNodeName',
      'variables.mayDiagnoseNodes',
      "'choose the node of a Diagnosis'",
      ON_NODES,
      'set spec.podReference to a pod of this namespace and leave spec.nodeName out',
    ),
    asked(
      '!variables.isNew || !has(object.spec.targetSelector)',
      'variables.mayDiagnoseNodes',
      "'select the nodes of a Diagnosis'",
      ON_NODES,
      'set spec.podReference to a pod of this namespace in place of spec.targetSelector',
    ),
    asked(
      '!variables.isNew || !has(object.spec.podReference) || object.spec.podReference.namespace == request.namespace',
      'variables.mayDiagnoseNodes',
      "'diagnose a pod of another namespace'",
      ON_NODES,
      'create the Diagnosis in the namespace of the pod',
    ),
    // The parent would count a Diagnosis that is not its own.
    asked(
      'variables.parent == variables.oldParent',
      'variables.mayDiagnoseNodes',
      `'change the label ${PARENT_LABEL}'`,
      ON_NODES,
      'only the controller sets it',
    ),
  ],
};

/** Prevents a person from doing through a Diagnosis what they may not do directly. */
export const diagnosisPolicy: readonly ManifestDocument[] = policyDocuments(policy);
