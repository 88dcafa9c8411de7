/**
 * The conditions of a Diagnosis. Types, reasons and messages of the first rows are those of every
 * KubeDiag, and programs wait for them; a message may hold one name, written here as NAME.
 */
export const CONDITION_REASONS = {
  DiagnosisAccepted: {
    type: 'Accepted',
    message: 'Diagnosis is accepted by agent on node NAME',
    means: 'Somebody has begun with it.',
  },
  TargetsLeftOut: {
    type: 'TargetsLeftOut',
    message: 'Not looked at here: NAME',
    means:
      'It names several nodes, and this agent has one node: whatever its phase, it is not about the others.',
  },
  DiagnosisComplete: {
    type: 'Complete',
    message: 'Diagnosis is completed',
    means: 'One path succeeded from its first step to its last.',
  },
  OperationSetNotFound: {
    type: 'OperationSetNotFound',
    message: 'OperationSet NAME is not found',
    means: 'The OperationSet did not come while it was waited for.',
  },
  OperationSetNotReady: {
    type: 'OperationSetNotReady',
    message:
      'OperationSet is not ready because the graph has not been updated according to the latest specification',
    means: 'The graph has no paths; the conditions of the OperationSet say why.',
  },
  OperationSetChanged: {
    type: 'OperationSetChanged',
    message:
      'OperationSet specification has been changed during diagnosis execution, or spec.operationSet names another one',
    means: 'The graph is another one than at the start, so the next step is unknown.',
  },
  OperationNotFound: {
    type: 'OperationNotFound',
    message: 'Operation NAME is not found',
    means: 'A step names an Operation that does not exist. The next path is tried.',
  },
  SyncDiagnosisFailed: {
    type: 'Accepted',
    message: 'NAME',
    means: 'It could not be carried on; the message is the last error.',
  },
  AllPathsFailed: {
    type: 'Failed',
    message: 'NAME failed; status.steps says at which step',
    means: 'Every path was tried, and each failed at a step.',
  },
  TargetNotFound: {
    type: 'Failed',
    message: 'It is not known on which node this is to be done: NAME',
    means: 'No node is named, or the pod that is named was not found.',
  },
  PodNotFound: {
    type: 'Failed',
    message: 'Pod not found on this node: NAME',
    means: 'Neither the kubelet nor the runtime has the pod that spec names. No step was run.',
  },
  ContainerNotFound: {
    type: 'Failed',
    message: 'Container not found: NAME',
    means: 'The pod that spec names has no container of that name. No step was run.',
  },
  PodNotVerified: {
    type: 'PodNotVerified',
    message: 'The pod of the spec was not verified: NAME',
    means: 'The kubelet could not be asked for its pods. The steps were run all the same.',
  },
  DeadlineExceeded: {
    type: 'Failed',
    message: 'It took longer than the NAME seconds of spec.deadlineSeconds',
    means: 'The time for the whole is over; no further step is begun.',
  },
  DiagnosisCancelled: {
    type: 'Failed',
    message: 'It was cancelled',
    means: 'Somebody ended it, by spec.cancel or Ctrl-C; no further step is begun.',
  },
  ApprovalNeeded: {
    type: 'WaitingForApproval',
    message:
      'Nothing is changed before plan NAME is approved: see status.plannedActions, then write the name of the plan to spec.approvedPlan (kubediag approve), or set spec.cancel',
    means: 'The next step would change the node, and spec.recovery is Approval.',
  },
  PlanApproved: {
    type: 'WaitingForApproval',
    message: 'Plan NAME was approved by spec.approvedPlan',
    means: 'The actions of this plan are carried out; the status of the condition is False.',
  },
  PlanDropped: {
    type: 'WaitingForApproval',
    message: 'Plan NAME was not approved, and waits no more',
    means:
      'It ended, or spec.recovery was changed, before anybody approved; the status of the condition is False.',
  },
} as const satisfies Readonly<
  Record<string, { readonly type: string; readonly message: string; readonly means: string }>
>;

export type ConditionReason = keyof typeof CONDITION_REASONS;
