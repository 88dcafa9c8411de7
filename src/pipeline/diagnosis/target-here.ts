import type { DiagnosisSpec } from '../api/diagnosis.ts';

/**
 * This node, when it is meant. A pod that is named without its node is looked for here. Which nodes
 * have a label only a cluster knows; several pods, and pods by their labels, are refused when they are
 * applied, and an earlier version may have taken them.
 */
export function targetHere(spec: DiagnosisSpec, here: string): string | undefined {
  const { nodeName, podReference, targetSelector = {} } = spec;
  if (nodeName) return nodeName === here ? here : undefined;
  // The first of them that is not empty counts.
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = targetSelector;
  if (nodeSelector) return undefined;
  if (nodeNames.length > 0) return nodeNames.includes(here) ? here : undefined;
  if (podSelector) return undefined;
  return podReference || podReferences.length === 1 ? here : undefined;
}
