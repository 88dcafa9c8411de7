import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { failedFor, withReason } from '../../../pipeline/graph/conditions.ts';

/** The pod of a Diagnosis. */
export type SeenPod =
  | { readonly state: 'scheduled'; readonly nodeName: string }
  | { readonly state: 'unscheduled'; readonly why: string }
  /** Since we have looked for it, on our own clock. */
  | { readonly state: 'missing'; readonly forMs: number };

export interface SeenTarget {
  readonly spec: DiagnosisSpec;
  readonly status: DiagnosisStatus;
  readonly now: Date;
}

/** The status that says for what it waits, or why it has ended. */
export function decideTarget(
  { spec, status, now }: SeenTarget,
  pod: SeenPod,
  arrivalMs: number,
): DiagnosisStatus {
  const { namespace, name } = spec.podReference ?? {};
  const isWaiting = status.conditions?.some(({ type }) => type === 'TargetPending');
  if (pod.state === 'scheduled') {
    return isWaiting ? withReason(status, 'TargetFound', now, pod.nodeName, 'False') : status;
  }
  if (pod.state === 'missing' && pod.forMs >= arrivalMs) {
    return failedFor(status, 'PodNotFound', now, `${namespace}/${name}`);
  }
  const why = pod.state === 'missing' ? 'not found' : pod.why;
  return withReason(status, 'PodPending', now, `pod ${namespace}/${name}: ${why}`);
}
