/**
 * The conditions of a Diagnosis. Types, reasons and messages of the first rows are those of upstream
 * KubeDiag, and programs wait for them. A message may contain one name, written here as NAME.
 */
export const CONDITION_REASONS = {
  DiagnosisAccepted: {
    type: 'Accepted',
    message: 'Diagnosis is accepted by agent on node NAME',
    means: 'An agent has started the Diagnosis.',
  },
  TargetsLeftOut: {
    type: 'TargetsLeftOut',
    message: 'Not handled by this agent: NAME',
    means:
      'The Diagnosis names several nodes, and an agent without a cluster handles only its own. The phase says nothing about the others.',
  },
  DiagnosisComplete: {
    type: 'Complete',
    message: 'Diagnosis is completed',
    means: 'All steps of one path succeeded.',
  },
  OperationSetNotFound: {
    type: 'OperationSetNotFound',
    message: 'OperationSet NAME is not found',
    means: 'The OperationSet was not created in time.',
  },
  OperationSetNotReady: {
    type: 'OperationSetNotReady',
    message: 'OperationSet is not ready because NAME',
    means: 'The graph has a problem, for example a cycle; the message says which.',
  },
  OperationSetChanged: {
    type: 'OperationSetChanged',
    message:
      'OperationSet specification has been changed during diagnosis execution, or spec.operationSet names another one',
    means: 'The graph has changed since the start, so the next step is unknown.',
  },
  OperationNotFound: {
    type: 'OperationNotFound',
    message: 'Operation NAME is not found',
    means: 'A step names an Operation that does not exist. The next path runs.',
  },
  SyncDiagnosisFailed: {
    type: 'Accepted',
    message: 'NAME',
    means: 'The Diagnosis could not continue; the message is the last error.',
  },
  AllPathsFailed: {
    type: 'Failed',
    message: 'NAME; see status.steps',
    means: 'Every path ran, and each failed at a step.',
  },
  TargetNotFound: {
    type: 'Failed',
    message: 'Cannot determine the target node: NAME',
    means: 'The spec names no node, or its pod was not found.',
  },
  PodNotFound: {
    type: 'Failed',
    message: 'Pod not found: NAME',
    means:
      'The cluster has no pod with the name in the spec, or its node does not have it. No step ran.',
  },
  ContainerNotFound: {
    type: 'Failed',
    message: 'Container not found: NAME',
    means: 'The pod of the spec has no container of that name. No step ran.',
  },
  PodNotVerified: {
    type: 'PodNotVerified',
    message: 'The pod of the spec was not verified: NAME',
    means:
      'The kubelet could not list its pods. The steps ran nevertheless. Not on a cluster: there the Diagnosis fails.',
  },
  DeadlineExceeded: {
    type: 'Failed',
    message:
      'Diagnosis did not end within its deadline of NAME seconds (spec.deadlineSeconds, counted from status.startTime)',
    means: 'The deadline of the Diagnosis has passed; no further step starts.',
  },
  DiagnosisCancelled: {
    type: 'Failed',
    message: 'Diagnosis was cancelled',
    means: 'spec.cancel or Ctrl-C ended the Diagnosis; no further step starts.',
  },
  ApprovalNeeded: {
    type: 'WaitingForApproval',
    message:
      'Plan NAME waits for approval: see status.plannedActions, then set spec.approvedPlan to NAME, or set spec.cancel to true',
    means: 'The next step would change the node, and spec.recovery is Approval.',
  },
  OtherPlanApproved: {
    type: 'WaitingForApproval',
    message:
      'Plan NAME waits for approval, and spec.approvedPlan names another one: see status.plannedActions, then set it to NAME, or set spec.cancel to true',
    means: 'The name in spec.approvedPlan is mistyped, or is that of an earlier plan.',
  },
  PlanApproved: {
    type: 'WaitingForApproval',
    message: 'Plan NAME was approved by spec.approvedPlan',
    means: 'The actions of this plan run; the status of the condition is False.',
  },
  PlanDropped: {
    type: 'WaitingForApproval',
    message: 'Plan NAME was not approved and has been dropped',
    means:
      'The Diagnosis ended, or spec.recovery changed, before the approval; the status of the condition is False.',
  },
  PodPending: {
    type: 'TargetPending',
    message: 'Waiting for the node of the pod: NAME',
    means: 'The pod of the spec does not exist yet or is not scheduled yet.',
  },
  TargetFound: {
    type: 'TargetPending',
    message: 'The pod runs on node NAME',
    means: 'The controller has set spec.nodeName; the status of the condition is False.',
  },
  NodesSelected: {
    type: 'TargetsSelected',
    message: 'NAME',
    means:
      'spec.targetSelector was resolved once, and each of its nodes gets a Diagnosis of its own.',
  },
  NoNodeSelected: {
    type: 'Failed',
    message: 'spec.targetSelector selects no node: NAME',
    means: 'No node or pod matches, or none of the named ones exists.',
  },
  TooManyNodes: {
    type: 'Failed',
    message: 'spec.targetSelector selects too many nodes: NAME',
    means:
      'A status could not list so many nodes, or the copies of a large spec would fill etcd. Narrower selectors divide them.',
  },
  NodesFailed: {
    type: 'Failed',
    message: 'NAME; see status.failedNodes',
    means:
      'At least one node has no answer: its Diagnosis ended as Error, Refused or Cancelled, was deleted, or could not be created.',
  },
  NodeNotFound: {
    type: 'Failed',
    message: 'Node NAME does not exist',
    means: 'The cluster has no Node with the name in spec.nodeName, or it was deleted.',
  },
  AgentMissing: {
    type: 'AgentLost',
    message: 'No agent runs on node NAME: check the DaemonSet kubediag-agent',
    means: 'The node has no Lease of an agent, so nobody runs the Diagnosis.',
  },
  AgentLost: {
    type: 'AgentLost',
    message:
      'The agent of node NAME does not renew its Lease: the node may be down or cut off, and what runs there is unknown; check the node and its pod of the DaemonSet kubediag-agent',
    means: 'The Diagnosis goes on if the agent returns in time; otherwise it ends as Failed.',
  },
  AgentReturned: {
    type: 'AgentLost',
    message: 'The agent of node NAME renews its Lease again',
    means: 'The Diagnosis goes on; the status of the condition is False.',
  },
  RecoveryPolicyMissing: {
    type: 'WaitingForRecovery',
    message:
      'No repair without a RecoveryPolicy: NAME; check that the controller runs, which creates the policy "default"',
    means: 'The policy does not exist, cannot be read, or no controller has observed it yet.',
  },
  RecoveryPolicyUnusable: {
    type: 'WaitingForRecovery',
    message: 'RecoveryPolicy "default" cannot be used: NAME; correct the policy',
    means:
      'The policy is malformed, or has a field that this version does not know. No repair begins.',
  },
  RecoveryPaused: {
    type: 'WaitingForRecovery',
    message: 'RecoveryPolicy NAME is paused: set its spec.paused to false to go on',
    means: 'A person has paused all repairs.',
  },
  OutsideMaintenanceWindow: {
    type: 'WaitingForRecovery',
    message: 'Outside of the maintenance windows of the RecoveryPolicy; NAME',
    means: 'The repair begins when the next window opens.',
  },
  RecoveryStopped: {
    type: 'WaitingForRecovery',
    message:
      'Repairs have stopped after NAME: find out why, then set spec.failuresResetTime of RecoveryPolicy default to now',
    means: 'Too many repairs have failed in this cluster.',
  },
  RightsNotEnforced: {
    type: 'WaitingForRecovery',
    message:
      'Nobody checks who may ask for a repair: NAME; to repair anyway, set spec.withoutAdmissionPolicies of RecoveryPolicy default to Allow',
    means:
      'The API server has no admission policies, which v1.30 and newer have, or one of KubeDiag is missing or was changed. A step that repairs is refused.',
  },
  AuthorNotChecked: {
    type: 'Failed',
    message:
      'Cannot determine whether the author of the Diagnosis may repair: it was created before NAME, when the admission policies came into force; create it again',
    means:
      'An admission policy was missing or changed until then. A step that repairs is refused, and no Diagnosis is created for further nodes.',
  },
  RightsNotChecked: {
    type: 'WaitingForRecovery',
    message:
      'Cannot determine whether the API server enforces the rights of KubeDiag: NAME; check that the controller runs',
    means: 'No controller has checked the admission policies yet, or it cannot read them.',
  },
  NoRecoverySlot: {
    type: 'WaitingForRecovery',
    message: 'NAME',
    means:
      'As many nodes are in recovery as the RecoveryPolicy permits, or another Diagnosis repairs this node. The repair begins when one of them has ended its recovery.',
  },
  ExecutorMissing: {
    type: 'WaitingForRecovery',
    message:
      'The executor of this node is not connected to its agent: see the log of the container "executor" in the agent pod of this node',
    means:
      'Only the executor knows whether the step repairs, and what an earlier attempt of it has done. The step runs when the executor is connected.',
  },
  RecoveryBegun: {
    type: 'WaitingForRecovery',
    message: 'The node holds Lease NAME for its recovery',
    means: 'The repair may begin; the status of the condition is False.',
  },
  RecoveryNotBegun: {
    type: 'WaitingForRecovery',
    message: 'The Diagnosis no longer waits for this repair',
    means:
      'The Diagnosis ended, or the repair needs approval or is refused by now; the status of the condition is False.',
  },
  ControllerStepDue: {
    type: 'WaitingForController',
    message: 'Step NAME needs rights that no agent has, and waits for the controller',
    means:
      'The controller runs this step. If this lasts, no controller runs: see its pods in the namespace kubediag.',
  },
  ControllerStepOver: {
    type: 'WaitingForController',
    message: 'The Diagnosis no longer waits for the controller',
    means:
      'The controller has run the step, its plan needs approval, or the Diagnosis has ended; the status of the condition is False.',
  },
} as const satisfies Readonly<
  Record<string, { readonly type: string; readonly message: string; readonly means: string }>
>;

export type ConditionReason = keyof typeof CONDITION_REASONS;
