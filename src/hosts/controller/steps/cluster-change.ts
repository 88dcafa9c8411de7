import type { DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import type { ObjectReference } from '../../../pipeline/kube/event-recorder.ts';
import { hashOf } from '../../../pipeline/steps/plan.ts';

/** A change of one object of the cluster, judged a moment ago. */
export interface ClusterChange {
  readonly kind: 'cordon' | 'delete-pod';
  /** Why. */
  readonly summary: string;
  /** "cordon node web-3" */
  readonly description: string;
  readonly details: readonly string[];
  readonly object: ObjectReference & { readonly uid: string };
  /** Reason of the Event for the object. */
  readonly eventReason: 'Cordoned' | 'StuckPodDeleted';
  /** Whether a read afterwards shows it. */
  readonly perform: () => Promise<boolean>;
  /** Results of the step, once it is done. */
  readonly results: Readonly<Record<string, string>>;
}

/** What a step found when it read the objects that it is about. */
export type Judged =
  | { readonly state: 'change'; readonly change: ClusterChange }
  /** Nothing is to be done, or this step has done it before it was interrupted. */
  | {
      readonly state: 'done';
      readonly results: Readonly<Record<string, string>>;
      readonly change?: Omit<ClusterChange, 'perform'>;
    }
  | { readonly state: 'refused'; readonly why: string }
  | { readonly state: 'failed'; readonly why: string };

type ActionRecord = NonNullable<DiagnosisStatus['actions']>[number];

export function recordOf(change: Omit<ClusterChange, 'perform'>): ActionRecord {
  const { kind, summary, description, details } = change;
  return { kind, summary, description, details: [...details] };
}

/** An approval covers this object, and none that has its name later. */
export function digestOfChange({ kind, object }: ClusterChange): string {
  return hashOf([kind, object.kind, object.namespace ?? '', object.name, object.uid]);
}
