import { UsageError } from '../../../lib/terminal/usage-error.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { API_VERSION } from '../../../pipeline/api/kinds.ts';
import { assignIn } from '../../../pipeline/diagnosis/assign.ts';
import { driveDiagnosis } from '../../../pipeline/diagnosis/drive-diagnosis.ts';
import type { DriverContext } from '../../../pipeline/diagnosis/driver-context.ts';
import {
  completeResults,
  largeResultsInMemory,
} from '../../../pipeline/diagnosis/large-results.ts';
import type { OperationLookup } from '../../../pipeline/diagnosis/operation-lookup.ts';
import type { RunStep } from '../../../pipeline/diagnosis/run-step.ts';
import { openMemoryStore } from '../../../pipeline/store/sqlite-store.ts';
import type { NewObject, StoredObject } from '../../../pipeline/store/store.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';

export interface Walk {
  readonly metadata: NewObject['metadata'];
  readonly spec: DiagnosisSpec;
  readonly nodeName: string;
  readonly lookup: OperationLookup;
  readonly runStep: RunStep;
  readonly findPod: NonNullable<DriverContext['findPod']>;
  /** Ctrl-C cancels the Diagnosis. */
  readonly stop: AbortSignal;
  /** Called after each step, and after a step that could not run. */
  readonly onStatus: (status: DiagnosisStatus) => void;
}

export interface Walked {
  readonly object: StoredObject;
  /** With all results in full: it is not stored. */
  readonly status: DiagnosisStatus;
  /** Why it did not end. */
  readonly waits?: string;
}

/** Runs a Diagnosis to its end as an agent does, with a store in memory. */
export async function waitForDiagnosis(walk: Walk): Promise<Walked> {
  const { metadata, spec, nodeName, lookup, runStep, findPod, stop, onStatus } = walk;
  const store = openMemoryStore();
  const largeResults = largeResultsInMemory();
  const created = await answerOf(
    store.create({ apiVersion: API_VERSION, kind: 'Diagnosis', metadata, spec }),
  );
  if (!created.ok) throw new UsageError(created.error.message);
  const { namespace = '', name, uid } = created.value.metadata;
  const context = {
    store,
    lookup,
    largeResults,
    targetOf: () => ({ state: 'here', nodeName }) as const,
    assign: assignIn(store),
    // No more objects can arrive.
    arrivalMs: 0,
    runStep,
    findPod,
    shutdown: new AbortController().signal,
    onSaved: ({ status }: StoredObject) => onStatus(status ?? {}),
  };
  const driven = await driveDiagnosis({ kind: 'Diagnosis', namespace, name, uid }, context, stop);
  if (driven.state !== 'ended' && driven.state !== 'waits') {
    throw new Error(`a Diagnosis in memory is ${driven.state}`);
  }
  const { object } = driven;
  const { largeResults: _, observedGeneration: __, ...status } = statusOf(object);
  const results = await completeResults(object.metadata.uid, statusOf(object), largeResults);
  if (!results.ok) throw new Error(results.why);
  const isEmpty = Object.keys(results.value).length === 0;
  return {
    object,
    status: isEmpty ? status : { ...status, operationResults: results.value },
    ...(driven.state === 'waits' ? { waits: driven.why } : {}),
  };
}

function statusOf({ status }: StoredObject): DiagnosisStatus {
  return status ?? {};
}
