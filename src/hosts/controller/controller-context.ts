import type { EventRecorder } from '../../pipeline/kube/event-recorder.ts';
import type { Informer } from '../../pipeline/kube/informer.ts';
import type { KubeClient } from '../../pipeline/kube/kube-client.ts';
import type { WorkQueue } from '../../pipeline/kube/work-queue.ts';
import type { NewObject, Store } from '../../pipeline/store/store.ts';
import type { Metric } from '../web/metrics.ts';
import type { DiagnosisDigest, LeaseDigest, NodeDigest } from './digests.ts';

/** A collection that a part of the controller follows. */
export interface FollowedCollection {
  readonly informer: { readonly isSynced: boolean };
  /** On our own clock (`performance.now`). */
  readonly sinceMs: number;
}

/** What every part of the controller works with, for as long as this process leads. */
export interface ControllerContext {
  /** Writes only while this process leads. */
  readonly client: KubeClient;
  readonly store: Store;
  /** The namespace of our own Leases. */
  readonly namespace: string;
  /** The built-in Operations and OperationSets of this version. */
  readonly builtIns: readonly NewObject[];
  readonly events: EventRecorder;
  /** What parts count, by the name of the metric: shown at /metrics while this process leads. */
  readonly metrics: Map<string, Metric>;
  /** By "namespace/name"; with the index "parent" (uid). */
  readonly diagnoses: Informer<DiagnosisDigest>;
  /** By name. */
  readonly nodes: Informer<NodeDigest>;
  /** Those of our namespace, by "namespace/name". */
  readonly leases: Informer<LeaseDigest>;
  /** Another process leads from now on, or this one shuts down. */
  readonly stop: AbortSignal;
  readonly now: () => Date;
  /** Called with one line for each change and each error. */
  readonly onMessage: (message: string) => void;
  /** By the name of their part: the metrics have their lengths. `openQueue` adds them. */
  readonly queues?: Map<string, Pick<WorkQueue, 'size'>>;
  /** What is followed, by its path: a leader that cannot list it is not ready. */
  readonly collections?: Map<string, FollowedCollection>;
  /** How long a missing object is waited for; the default is a minute. */
  readonly arrivalMs?: number;
  /** How long it may take until all API servers enforce an admission policy; the default is ENFORCED_MS. */
  readonly enforcedMs?: number;
  /** How long the agent of a Diagnosis may be lost; the default is LOST_END_MS. */
  readonly lostEndMs?: number;
}

/** Begins when all informers have listed their objects. A part that only reacts to them may return before `stop`. */
export type ControllerPart = (context: ControllerContext) => Promise<void>;
