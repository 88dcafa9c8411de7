import { API_VERSION, RECOVERY_POLICIES } from './kind-names.ts';

/** Names that the agents and deploy/kubediag.yaml share. */

export const NAMESPACE = 'kubediag';
export const AGENT_ACCOUNT = 'kubediag-agent';

/** As agents name themselves in Events. */
export const AGENT_REPORTER = 'kubediag.org/agent';

/** The one condition of a Node that agents write. */
export const NODE_CONDITION = 'NodeFault';

/** The claim of a service account token that says on which node its pod runs. */
export const NODE_NAME_CLAIM = 'authentication.kubernetes.io/node-name';

export const CONTROLLER_ACCOUNT = 'kubediag-controller';
/** As controllers name themselves in Events. */
export const CONTROLLER_REPORTER = 'kubediag.org/controller';
/** The Lease of the controller that leads. */
export const CONTROLLER_LEASE = 'kubediag-controller';

/** Leases, numbered from 0: a node is repaired only while its agent holds one of them. */
export const SLOT_PREFIX = 'kubediag-recovery-';
export const SLOT_LABEL = 'diagnosis.kubediag.org/recovery-slot';
/** Annotation of such a Lease: the recoveries that failed while it was held, as a JSON list. */
export const FAILURES_ANNOTATION = 'diagnosis.kubediag.org/failures';

/** Label of a child Diagnosis: the uid of its parent. */
export const PARENT_LABEL = 'diagnosis.kubediag.org/parent-uid';
/** Label of a child Diagnosis for people, the name of its parent: "kubectl get diagnoses -l diagnosis.kubediag.org/parent=NAME". */
export const PARENT_NAME_LABEL = 'diagnosis.kubediag.org/parent';

/** Annotation of a Node that the controller cordoned: the Diagnosis. */
export const CORDONED_BY = 'diagnosis.kubediag.org/cordoned-by';

/** The one RecoveryPolicy that counts. */
export const RECOVERY_POLICY = 'default';
export const RECOVERY_POLICY_PATH = `/apis/${API_VERSION}/${RECOVERY_POLICIES}/${RECOVERY_POLICY}`;

/** Verbs of our own, for rights that RBAC cannot express. */
export const VERBS = { recover: 'recover', approve: 'approve', diagnose: 'diagnose' } as const;

/** Label of the built-in Operations and OperationSets that the controller creates and updates. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGER = 'kubediag';
/** Annotation with the hash of the spec that the controller wrote: another spec is the change of a person. */
export const BUILT_IN_HASH = 'diagnosis.kubediag.org/built-in-hash';

/** ClusterRoles for people. */
export const PEOPLE_ROLES = {
  view: 'kubediag-view',
  diagnose: 'kubediag-diagnose',
  diagnoseNodes: 'kubediag-diagnose-nodes',
  recover: 'kubediag-recover',
  approve: 'kubediag-approve',
  admin: 'kubediag-admin',
} as const;

/** The policy that checks the verbs: without it, RBAC alone decides who may create a Diagnosis. */
export const AUTHOR_POLICY = 'kubediag-diagnoses';
/** The name of a Diagnosis that this policy refuses: the controller asks for it to see that the policy is in force. */
export const RIGHTS_PROBE = 'kubediag-rights-probe';

/** Label of namespaces whose pods may read the metrics of the controller. */
export const METRICS_LABEL = 'diagnosis.kubediag.org/metrics';

/** Annotation of a ValidatingAdmissionPolicy, by which the controller sees whether somebody has changed the policy. */
export const POLICY_HASH = 'diagnosis.kubediag.org/policy-hash';

/** The ValidatingAdmissionPolicies that limit rights: without one of them no node is repaired. */
export const RIGHTS_POLICIES: readonly string[] = [
  ...['diagnoses', 'nodereports', 'leases', 'nodes', 'events'].map(
    (at) => `${AGENT_ACCOUNT}-${at}`,
  ),
  ...['diagnoses', 'operations', 'built-ins', 'leases', 'nodes', 'cordons', 'pods', 'events'].map(
    (at) => `${CONTROLLER_ACCOUNT}-${at}`,
  ),
  AUTHOR_POLICY,
];

/** Those that only help authors: they refuse an object that could not work. */
export const LINT_POLICIES = {
  operationSets: 'kubediag-operationsets',
  operations: 'kubediag-operations',
} as const;

/** All ValidatingAdmissionPolicies of deploy/kubediag.yaml; the binding of each has its name. */
export const ADMISSION_POLICIES: readonly string[] = [
  ...RIGHTS_POLICIES,
  ...Object.values(LINT_POLICIES),
];
