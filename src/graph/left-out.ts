import type { DiagnosisSpec } from '../api/diagnosis.ts';
import type { Problem } from '../api/problem.ts';
import { LEFT_OUT_NAMED_MAX } from './limits.ts';

const WHY = 'an agent looks at its own node, and a step at one pod at most';
const TODO = 'make a Diagnosis for each of them, and apply it to the agent of its node';

/** What a Diagnosis names and nobody looks at when one node has it; undefined when there is nothing. */
export function leftOutOn(here: string, spec: DiagnosisSpec): string | undefined {
  const { nodes, pods } = severalIn(spec);
  const others = nodes.filter((name) => name !== here);
  const names = nodes.length > 0 ? others.map((name) => `node ${name}`) : pods;
  if (names.length === 0) return undefined;
  const more =
    names.length > LEFT_OUT_NAMED_MAX ? ` and ${names.length - LEFT_OUT_NAMED_MAX} more` : '';
  return `${names.slice(0, LEFT_OUT_NAMED_MAX).join(', ')}${more}; ${WHY}: ${TODO}`;
}

/** The same for whoever does not know yet which node will have it. */
export function notesOnTargets(spec: DiagnosisSpec): readonly Problem[] {
  const { nodes, pods } = severalIn(spec);
  const field = nodes.length > 1 ? 'nodeNames' : pods.length > 0 ? 'podReferences' : undefined;
  if (field === undefined) return [];
  const place = ['spec', 'targetSelector', field];
  return [{ severity: 'note', place, what: `not all of them are looked at: ${WHY}`, fix: TODO }];
}

/** The first part that is not empty counts; of pods only several, for one alone is looked at. */
function severalIn({ targetSelector = {} }: DiagnosisSpec) {
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = targetSelector;
  const nodes = nodeSelector ? [] : [...new Set(nodeNames)];
  const isByPod = !nodeSelector && nodes.length === 0 && !podSelector;
  const pods = isByPod ? podReferences.map((each) => `pod ${each.namespace}/${each.name}`) : [];
  return { nodes, pods: pods.length > 1 ? pods : [] };
}
