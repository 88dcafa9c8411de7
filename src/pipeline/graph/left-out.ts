import type { DiagnosisSpec } from '../api/diagnosis.ts';
import { note, type Problem, problem } from '../api/problem.ts';
import { LEFT_OUT_NAMED_MAX } from './limits.ts';

const WHY = 'an agent diagnoses its own node only';
const TODO = 'create a Diagnosis for each of them';

/** The nodes of a Diagnosis that the agent of one node does not diagnose; undefined if there are none. */
export function leftOutOn(here: string, spec: DiagnosisSpec): string | undefined {
  const names = nodesIn(spec)
    .filter((name) => name !== here)
    .map((name) => `node ${name}`);
  if (names.length === 0) return undefined;
  const more =
    names.length > LEFT_OUT_NAMED_MAX ? ` and ${names.length - LEFT_OUT_NAMED_MAX} more` : '';
  return `${names.slice(0, LEFT_OUT_NAMED_MAX).join(', ')}${more}; ${WHY}: ${TODO}`;
}

/** The problems of the targets on any node. */
export function problemsOfTargets(spec: DiagnosisSpec): readonly Problem[] {
  if (nodesIn(spec).length <= 1) return refusedTargets(spec);
  const place = ['spec', 'targetSelector', 'nodeNames'];
  return [note(place, `not all of them are diagnosed: ${WHY}`, TODO)];
}

/** Targets that no step would diagnose: a step is about one pod with a name. */
export function refusedTargets(spec: DiagnosisSpec): readonly Problem[] {
  const { podReference, targetSelector } = spec;
  if (podReference || !targetSelector) return [];
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = targetSelector;
  // The first field that is not empty counts.
  if (nodeSelector || nodeNames.length > 0) return [];
  const fix = 'create one Diagnosis for each pod, with the pod in spec.podReference';
  const refused = (field: string, what: string) => [
    problem(['spec', 'targetSelector', field], what, fix),
  ];
  if (podSelector) return refused('podSelector', 'an agent does not select pods by labels');
  if (podReferences.length <= 1) return [];
  return refused('podReferences', `a Diagnosis is about one pod, not ${podReferences.length}`);
}

function nodesIn({ targetSelector = {} }: DiagnosisSpec): readonly string[] {
  const { nodeSelector, nodeNames = [] } = targetSelector;
  return nodeSelector ? [] : [...new Set(nodeNames)];
}
