import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { afterStep, type StepResult } from '../graph/after-step.ts';
import { decideNext, type SeenDiagnosis, type SeenSet } from '../graph/decide-next.ts';
import type { OperationResult, StepRecord } from '../operations/operation-result.ts';
import { RESULTS_CHARACTERS_MAX } from './limits.ts';

export interface Walk {
  readonly spec: DiagnosisSpec;
  readonly nodeName: string;
  readonly set: SeenSet & { readonly state: 'ready' };
  readonly hasOperation: (name: string) => boolean;
  readonly stop: AbortSignal;
  readonly run: (node: GraphNode, status: DiagnosisStatus) => Promise<OperationResult>;
  /** Told after each step, and after a step that could not be run. */
  readonly onStatus: (status: DiagnosisStatus) => void;
}

export interface Walked {
  readonly status: DiagnosisStatus;
  /** The graph that it was begun with. */
  readonly hash: string | undefined;
  /** Why it did not come to an end. */
  readonly waits?: string;
}

/** Walks a Diagnosis from its start to its end, in memory: one step at a time. */
export async function walkDiagnosis(walk: Walk): Promise<Walked> {
  const { set, run, onStatus } = walk;
  let status: DiagnosisStatus = {};
  let hash: string | undefined;
  for (;;) {
    const decision = decideNext(seen(walk, status, hash));
    if (decision.kind === 'ended') return { status, hash };
    if (decision.kind === 'wait') return { status, hash, waits: decision.why };
    if (decision.kind === 'save') {
      status = decision.status;
      hash = decision.hash ?? hash;
    } else {
      const result = withinBounds(await run(decision.node, status), status);
      status = afterStep(
        recorded(status, result.record),
        set.paths,
        stepResult(result),
        new Date(),
      );
    }
    onStatus(status);
  }
}

function seen(
  { spec, nodeName, set, hasOperation, stop }: Walk,
  status: DiagnosisStatus,
  hash: string | undefined,
): SeenDiagnosis {
  // Whoever presses Ctrl-C wants what a cancel does.
  const asked = stop.aborted ? { ...spec, cancel: true } : spec;
  return { spec: asked, status, hash, nodeName, set, hasOperation, now: new Date() };
}

function stepResult(result: OperationResult): StepResult {
  const { record: _, ...rest } = result;
  return rest;
}

function recorded(status: DiagnosisStatus, record: StepRecord = {}): DiagnosisStatus {
  const { findings = [], plannedActions = [], actions = [] } = record;
  return {
    ...status,
    ...joined('findings', status.findings, findings),
    ...joined('plannedActions', status.plannedActions, plannedActions),
    ...joined('actions', status.actions, actions),
  };
}

function joined<T>(name: string, before: readonly T[] | undefined, more: readonly T[]): object {
  return more.length === 0 ? {} : { [name]: [...(before ?? []), ...more] };
}

function withinBounds(result: OperationResult, { operationResults }: DiagnosisStatus) {
  const all = { ...operationResults, ...result.results };
  const size = Object.entries(all).reduce((sum, [key, { length }]) => sum + key.length + length, 0);
  if (size <= RESULTS_CHARACTERS_MAX) return result;
  const message = `with its results there are more than ${RESULTS_CHARACTERS_MAX} characters of them`;
  return { succeeded: false, message } satisfies OperationResult;
}
