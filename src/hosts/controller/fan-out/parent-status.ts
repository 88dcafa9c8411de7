import { counted } from '../../../lib/std/counted.ts';
import { defined } from '../../../lib/std/defined.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { FAILED_NODES_LISTED_MAX } from '../../../pipeline/api/limits.ts';
import type { DiagnosisResult } from '../../../pipeline/api/results.ts';
import { endedAs, failedFor, withReason } from '../../../pipeline/graph/conditions.ts';
import { type NodeOutcome, resultOfNodes } from '../../../pipeline/graph/result-of-nodes.ts';

export type FailedNode = NonNullable<DiagnosisStatus['failedNodes']>[number];

/** A selected node and what has become of it. */
export interface NodeState extends NodeOutcome {
  readonly name: string;
  /** Absent if it has no Diagnosis. */
  readonly diagnosis?: string | undefined;
  readonly isCreated: boolean;
  /** Why it failed. */
  readonly why?: string | undefined;
}

/** The names that were no nodes at the start: they are in no other list. */
function missingIn({ failedNodes = [], nodeNames = [] }: DiagnosisStatus): FailedNode[] {
  const selected = new Set(nodeNames);
  return failedNodes.filter(({ name }) => !selected.has(name));
}

/** The status with the counts of its nodes. */
export function withNodes(status: DiagnosisStatus, states: readonly NodeState[]): DiagnosisStatus {
  const total = status.nodes?.total ?? states.length;
  const outcomes = outcomesOf(status, states);
  const countOf = (state: NodeOutcome['state']) =>
    outcomes.filter((each) => each.state === state).length;
  const [succeeded, failed] = [countOf('succeeded'), countOf('failed')];
  const created = states.findIndex(({ isCreated }) => !isCreated);
  const known = states.filter(({ state }) => state === 'failed').map(failedNode);
  const failedNodes = [...missingIn(status), ...known].slice(0, FAILED_NODES_LISTED_MAX);
  const { failedNodes: _, result: __, ...rest } = status;
  return defined({
    ...rest,
    nodes: {
      total,
      waiting: countOf('waiting'),
      running: countOf('running'),
      succeeded,
      failed,
      created: created === -1 ? states.length : created,
      results: countsOf(outcomes.flatMap(({ result }) => result ?? [])),
    },
    progress: `${succeeded + failed}/${total}`,
    failedNodes: failedNodes.length === 0 ? undefined : failedNodes,
    result: resultOfNodes(outcomes),
  });
}

/** The end of a Diagnosis of which no node is left. */
export function endedParent(
  status: DiagnosisStatus,
  { cancel }: Pick<DiagnosisSpec, 'cancel'>,
  now: Date,
): DiagnosisStatus {
  const { failed = 0, total = 0 } = status.nodes ?? {};
  if (cancel && status.result === 'Cancelled') return failedFor(status, 'DiagnosisCancelled', now);
  if (failed > 0) {
    const what = `${failed} of ${counted(total, 'node')} failed`;
    return failedFor(status, 'NodesFailed', now, what);
  }
  return endedAs('Succeeded', withReason(status, 'DiagnosisComplete', now), now);
}

/** A name without a node has failed as well. */
function outcomesOf(status: DiagnosisStatus, states: readonly NodeState[]): NodeOutcome[] {
  const missing = Math.max((status.nodes?.total ?? states.length) - states.length, 0);
  const absent = Array.from({ length: missing }, (): NodeOutcome => {
    return { state: 'failed', result: 'Error' };
  });
  return [...absent, ...states];
}

function failedNode({ name, diagnosis, why, result }: NodeState): FailedNode {
  const message = why ?? `its Diagnosis ended with the result ${result ?? 'Error'}`;
  return defined({ name, diagnosis, message });
}

function countsOf(results: readonly DiagnosisResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of results) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}
