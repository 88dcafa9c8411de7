import type { DiagnosisSpec } from '../api/diagnosis.ts';
import { selectorProblem } from '../api/label-selector.ts';
import { note, type Problem, problem } from '../api/problem.ts';
import { LEFT_OUT_NAMED_MAX } from './limits.ts';

const WHY = '`kubediag serve` and `kubediag run` diagnose their own node only';
const TODO = 'create a Diagnosis on each of them, or this one on a cluster';

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

/** What is wrong with the targets, and what holds for a cluster or for a single node only. */
export function problemsOfTargets(spec: DiagnosisSpec): readonly Problem[] {
  const { nodeName, podReference, targetSelector } = spec;
  if (!targetSelector) return [];
  const place = ['spec', 'targetSelector'];
  if (nodeName || podReference) {
    const wins = nodeName ? 'nodeName' : 'podReference';
    const what = `on a cluster it has no effect beside spec.${wins}`;
    return [note(place, what, 'remove one of the two')];
  }
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = targetSelector;
  const [field, labels] = nodeSelector
    ? ['nodeSelector', nodeSelector]
    : ['podSelector', nodeNames.length === 0 ? podSelector : undefined];
  const why = labels && selectorProblem(labels);
  if (why) return [problem([...place, field], why, 'correct it as for kubectl')];
  if (!labels && nodeNames.length === 0 && podReferences.length === 0) {
    const fix = 'name nodes or pods; an empty nodeSelector ({}) selects all nodes of a cluster';
    return [problem(place, 'it selects no node', fix)];
  }
  if (nodesIn(spec).length > 1) {
    const what = `on a cluster each of them gets a Diagnosis of its own; ${WHY}`;
    return [note([...place, 'nodeNames'], what, 'create it on a cluster to diagnose all of them')];
  }
  return refusedTargets(spec).map(({ place: where, what }) =>
    note(where, `on a single node it is refused: ${what}`, 'create it on a cluster'),
  );
}

/** Targets that `kubediag serve` and `kubediag run` refuse: there a Diagnosis is about one pod. */
export function refusedTargets(spec: DiagnosisSpec): readonly Problem[] {
  const { podReference, targetSelector } = spec;
  if (podReference || !targetSelector) return [];
  const { nodeSelector, nodeNames = [], podSelector, podReferences = [] } = targetSelector;
  // The first field that is set counts. An empty list counts as not set.
  if (nodeSelector || nodeNames.length > 0) return [];
  const fix =
    'create one Diagnosis for each pod, with the pod in spec.podReference, or this one on a cluster';
  const refused = (field: string, what: string) => [
    problem(['spec', 'targetSelector', field], what, fix),
  ];
  if (podSelector) return refused('podSelector', 'only a cluster can select pods by labels');
  if (podReferences.length <= 1) return [];
  return refused(
    'podReferences',
    `a Diagnosis on one node is about one pod, not ${podReferences.length}`,
  );
}

function nodesIn({ targetSelector = {} }: DiagnosisSpec): readonly string[] {
  const { nodeSelector, nodeNames = [] } = targetSelector;
  return nodeSelector ? [] : [...new Set(nodeNames)];
}
