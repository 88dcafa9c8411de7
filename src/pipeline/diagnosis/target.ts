import type { DiagnosisSpec } from '../api/diagnosis.ts';
import { namedPod } from '../api/named-pod.ts';

/** Which agent runs a Diagnosis, as seen from one node. */
export type Target =
  | { readonly state: 'here'; readonly nodeName: string }
  /** Another agent runs it, and only that one may write to it. */
  | { readonly state: 'elsewhere' }
  /** The spec does not say. */
  | { readonly state: 'unknown' };

export function targetOn(spec: DiagnosisSpec, here: string): Target {
  const { nodeName, targetSelector = {} } = spec;
  // The first field of a selector that is not empty counts. Only a cluster can resolve labels.
  const { nodeSelector, nodeNames = [] } = targetSelector;
  const names = nodeName ? [nodeName] : nodeSelector ? [] : nodeNames;
  if (names.length === 0) return { state: 'unknown' };
  return names.includes(here) ? { state: 'here', nodeName: here } : { state: 'elsewhere' };
}

/**
 * For the only agent of a store. It looks for a pod without a node here. A node that it does not know
 * by this name is unknown: no other agent would end the Diagnosis, and the kubelet may still report
 * that name.
 */
export function targetOfOnlyNode(spec: DiagnosisSpec, here: string): Target {
  const target = targetOn(spec, here);
  if (target.state === 'elsewhere') return { state: 'unknown' };
  if (target.state === 'here') return target;
  // Several pods, and pods by their labels, are refused when a Diagnosis is applied.
  const { nodeSelector, podSelector } = spec.targetSelector ?? {};
  const namesOnePod = !nodeSelector && !podSelector && namedPod(spec) !== undefined;
  return namesOnePod ? { state: 'here', nodeName: here } : target;
}
