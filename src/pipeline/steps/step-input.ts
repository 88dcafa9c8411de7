import type { PodName } from '../../node/checkup/judge-faults.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { namedPod } from '../api/named-pod.ts';
import type { StepInput } from './operation-result.ts';

/** The parts of a Diagnosis that its steps get. */
export interface CurrentDiagnosis {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  /** By the clock of the API server. */
  readonly createdAt?: string;
  readonly spec: DiagnosisSpec;
  readonly status: DiagnosisStatus;
}

/** Later ones win, so no parameter passes for something that a step has found. */
export function stepInput(diagnosis: CurrentDiagnosis): StepInput {
  const { spec, status, namespace, name, uid, nodeName } = diagnosis;
  const pod = namedPod(spec);
  return {
    ...spec.parameters,
    ...status.operationResults,
    'diagnosis.namespace': namespace,
    'diagnosis.name': name,
    'diagnosis.uid': uid,
    node: nodeName,
    ...(pod ? { 'pod.namespace': pod.namespace, 'pod.name': pod.name } : {}),
    ...(pod?.container ? { container: pod.container } : {}),
  };
}

/** The pod that a step is about, when its Diagnosis names one. */
export function podOfStep(input: StepInput): PodName | undefined {
  const { 'pod.namespace': namespace, 'pod.name': name } = input;
  return namespace && name ? { namespace, name } : undefined;
}
