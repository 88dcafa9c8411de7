import type { DiagnosisSpec } from '../api/diagnosis.ts';
import type { PodReference, SeenPod } from '../api/named-pod.ts';
import type { EarlierActions } from '../operations/processor-host.ts';
import type { Store, StoredObject } from '../store/store.ts';
import type { Patience } from '../store/store-answer.ts';
import type { Catalogue } from './catalogue.ts';
import type { LargeResults } from './large-results.ts';
import type { RunStep } from './run-step.ts';
import type { Semaphore } from './semaphore.ts';

/** All that it takes to drive Diagnoses. */
export interface DriverContext {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly largeResults: LargeResults;
  /** The node that a Diagnosis is about, when it is served here. */
  readonly targetOf: (spec: DiagnosisSpec) => string | undefined;
  readonly runStep: RunStep;
  /** Whether the node has a pod. Absent where nobody can say; then it is believed. */
  readonly findPod?: (pod: PodReference, restMs: number, stop: AbortSignal) => Promise<SeenPod>;
  /** For steps that are told results beside the status: those are held whole until the step ends. */
  readonly holdLarge?: Semaphore;
  /** What was done for a step that a crash cut short, by its purpose. Absent where none outlives us. */
  readonly earlierActionsFor?: (purpose: string) => Promise<EarlierActions>;
  /** This process ends: no step is begun, and what a step that was cut short says is not kept. */
  readonly shutdown: AbortSignal;
  readonly now?: () => Date;
  /** How long what is missing may still come, when it is another time than usual. */
  readonly arrivalMs?: number;
  /** Told of each state in which it is on disk. */
  readonly onSaved?: (object: StoredObject) => void;
  /** Told what is wrong with the store, while it is waited for. */
  readonly onError?: (message: string) => void;
}

export function patienceOf({ shutdown, onError }: DriverContext): Patience {
  return { stop: shutdown, onError };
}
