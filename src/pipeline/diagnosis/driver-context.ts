import type { DiagnosisSpec } from '../api/diagnosis.ts';
import type { PodReference, SeenPod } from '../api/named-pod.ts';
import type { Processor } from '../api/processor-of.ts';
import type { EarlierRecord, RunStepWhenDue } from '../steps/step-to-run.ts';
import type { Store, StoredObject } from '../store/store.ts';
import type { Assign } from './assign.ts';
import type { Large, LargeResults } from './large-results.ts';
import type { OperationLookup } from './operation-lookup.ts';
import type { Target } from './target.ts';

/** What the driver of Diagnoses works with. */
export interface DriverContext {
  readonly store: Store;
  readonly lookup: OperationLookup;
  /** Runs a step with its large results: `withLargeResults`, where their files are. */
  readonly runStep: RunStepWhenDue;
  /** Another process drives the Diagnosis while its step is none of these. Absent: all steps run here. */
  readonly runsHere?: (processor: Processor) => boolean;
  readonly largeResults: Omit<LargeResults, 'read'>;
  /**
   * How somebody fetches a large result or a file where nobody has a token of the agent: the status lists
   * a random key for each. Absent: from the agent, at its path, and the status lists no files.
   */
  readonly howToFetch?: (uid: string, stored: Pick<Large, 'file' | 'accessKey'>) => string;
  readonly targetOf: (spec: DiagnosisSpec) => Target;
  /** Absent where a controller assigns Diagnoses: the driver writes `status` only then. */
  readonly assign?: Assign | undefined;
  /** Whether the node has a pod. Absent: every pod is assumed to exist. */
  readonly findPod?: (pod: PodReference, restMs: number, stop: AbortSignal) => Promise<SeenPod>;
  /** The actions of a step that a crash interrupted, by its purpose. Absent without a journal. */
  readonly earlierActionsFor?: (purpose: string) => Promise<EarlierRecord>;
  /** This process shuts down: no step begins, and the failure of an aborted step is not stored. */
  readonly shutdown: AbortSignal;
  readonly now?: () => Date;
  /** How long a missing OperationSet, Operation or node is waited for; the default is a minute. */
  readonly arrivalMs?: number;
  /** Called with the object after each write. */
  readonly onSaved?: (object: StoredObject) => void;
  /** Called with each error of the store. */
  readonly onError?: (message: string) => void;
}

/** What became of a Diagnosis that was driven. */
export type Driven =
  /** It was deleted. */
  | { readonly state: 'gone' }
  /** Another process runs it, or its next step; nothing more was written. */
  | { readonly state: 'elsewhere' }
  | { readonly state: 'ended'; readonly object: StoredObject }
  /** Drive it again when something changes, or at this time. */
  | {
      readonly state: 'waits';
      readonly object: StoredObject;
      readonly why: string;
      readonly againAt: number;
    }
  /** By the shutdown of this process or an error of the store; it goes on from its checkpoint. */
  | { readonly state: 'interrupted' };
