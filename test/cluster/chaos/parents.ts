import { expect } from 'vitest';
import { PARENT_LABEL } from '../../../src/pipeline/api/cluster-names.ts';

import { type SeenDiagnosis, shownOf } from './diagnoses.ts';

/** A Diagnosis of several nodes has exactly one other for each of them, and counts them right. */
export function expectCounted(
  parent: SeenDiagnosis,
  all: readonly SeenDiagnosis[],
  nodes: readonly string[],
): void {
  const { uid } = parent.metadata;
  const children = all.filter(({ metadata: { labels = {} } }) => labels[PARENT_LABEL] === uid);
  const shown = shownOf(parent, ...children);
  const nodeNames = children.map(({ spec }) => spec.nodeName ?? '').toSorted();
  expect(nodeNames, shown).toEqual(nodes.toSorted());
  const phases = children.map(({ status }) => status?.phase);
  const countOf = (phase: string) => phases.filter((each) => each === phase).length;
  const [succeeded, failed] = [countOf('Succeeded'), countOf('Failed')];
  const { phase, progress, nodes: counts, failedNodes = [] } = parent.status ?? {};
  expect({ phase, progress, counts, failed: failedNodes.length }, shown).toMatchObject({
    phase: failed > 0 ? 'Failed' : 'Succeeded',
    progress: `${nodes.length}/${nodes.length}`,
    counts: { total: nodes.length, waiting: 0, running: 0, succeeded, failed },
    failed,
  });
}
