import type { DiagnosisSpec } from './diagnosis.ts';

export type PodReference = NonNullable<DiagnosisSpec['podReference']>;

/** The pod that a Diagnosis names, as either generation of the API names it. */
export function namedPod(spec: DiagnosisSpec): PodReference | undefined {
  const { podReference, targetSelector = {} } = spec;
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = targetSelector;
  const isByPod = !nodeSelector && nodeNames.length === 0 && !podSelector;
  return podReference ?? (isByPod && podReferences.length === 1 ? podReferences[0] : undefined);
}

/** Whether the node has the pod, and the container if one is named. */
export type SeenPod =
  | { readonly state: 'found' }
  | {
      readonly state: 'absent';
      readonly reason: 'PodNotFound' | 'ContainerNotFound';
      readonly why: string;
    }
  | { readonly state: 'unknown'; readonly why: string };
