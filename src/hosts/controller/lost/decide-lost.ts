import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { failedFor, isTrue, withReason } from '../../../pipeline/graph/conditions.ts';
import { statusWithoutNode } from '../../../pipeline/graph/decide-next.ts';
import type { DiagnosisDigest } from '../digests.ts';

/** What is known of a node, on our own clock: times of other machines are never compared with it. */
export interface SeenNode {
  /** How long its Node object is missing; undefined while it exists. */
  readonly nodeMissingMs: number | undefined;
  /** Of the Lease of its agent. */
  readonly lease:
    | {
        readonly durationMs: number;
        readonly unchangedMs: number;
        /** Since this process leads. */
        readonly isRenewed: boolean;
      }
    | { readonly missingMs: number };
}

export interface LostTimes {
  readonly arrivalMs: number;
  /** How long an agent may be lost before its Diagnoses end. */
  readonly lostEndMs: number;
}

export type AgentState =
  | { readonly kind: 'present' }
  /** It may not have started yet, or may be lost already. */
  | { readonly kind: 'arriving' }
  | { readonly kind: 'no-node' }
  | {
      readonly kind: 'lost';
      readonly reason: 'AgentMissing' | 'AgentLost';
      /** For so long that its Diagnoses end. */
      readonly isOver: boolean;
    };

export function agentStateOf(
  { nodeMissingMs, lease }: SeenNode,
  { arrivalMs, lostEndMs }: LostTimes,
): AgentState {
  if (nodeMissingMs !== undefined && nodeMissingMs >= arrivalMs) return { kind: 'no-node' };
  const isMissing = 'missingMs' in lease;
  const lostMs = isMissing ? lease.missingMs - arrivalMs : lease.unchangedMs - lease.durationMs;
  if (lostMs < 0) return { kind: !isMissing && lease.isRenewed ? 'present' : 'arriving' };
  const reason = isMissing ? 'AgentMissing' : 'AgentLost';
  return { kind: 'lost', reason, isOver: lostMs >= lostEndMs };
}

/** Whether the status of a Diagnosis that has not ended may have to change. */
export function isConcerned(digest: DiagnosisDigest, agent: AgentState, now: Date): boolean {
  const isReported = digest.trueConditions.has('AgentLost');
  if (agent.kind === 'arriving') return false;
  if (agent.kind === 'present') return isReported;
  if (agent.kind === 'no-node' || agent.isOver || !isReported || digest.isCancelled) return true;
  const { deadlineSeconds = Number.POSITIVE_INFINITY, startTime = '' } = digest;
  return Date.parse(startTime) + deadlineSeconds * 1_000 <= now.getTime();
}

/** The status of a Diagnosis on that node. Its begin, its cancel and its deadline need no agent. */
export function decideLost(
  spec: DiagnosisSpec,
  status: DiagnosisStatus,
  agent: AgentState,
  now: Date,
): DiagnosisStatus {
  const { nodeName = '' } = spec;
  if (agent.kind === 'arriving') return status;
  if (agent.kind === 'present') {
    return isTrue(status, 'AgentLost')
      ? withReason(status, 'AgentReturned', now, nodeName, 'False')
      : status;
  }
  // An agent that comes back sees by this condition that its Diagnosis ended without it.
  const reason = agent.kind === 'lost' ? agent.reason : 'AgentLost';
  const reported = withReason(status, reason, now, nodeName);
  if (agent.kind === 'no-node') return failedFor(reported, 'NodeNotFound', now, nodeName);
  const { status: current } = statusWithoutNode({ spec, status: reported, now });
  const isOver = agent.isOver && !hasEnded(current.phase);
  return isOver ? failedFor(current, reason, now, nodeName) : current;
}
