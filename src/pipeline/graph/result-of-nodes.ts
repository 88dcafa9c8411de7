import { hasEnded } from '../api/has-ended.ts';
import type { DiagnosisResult } from '../api/results.ts';

/** What the Diagnosis of one node has come to. */
export interface NodeOutcome {
  readonly state: 'waiting' | 'running' | 'succeeded' | 'failed';
  readonly result?: DiagnosisResult | undefined;
}

/**
 * In which order results count for the Diagnosis of several nodes: the one that needs a person most comes
 * first. A finding that nobody has repaired comes before the repairs of other nodes.
 */
const MOST_URGENT_FIRST: readonly DiagnosisResult[] = [
  'Cancelled',
  'Error',
  'Refused',
  'Found',
  'Repaired',
  'Completed',
  'NothingFound',
];

const WITHOUT_ANSWER: readonly DiagnosisResult[] = ['Cancelled', 'Error', 'Refused'];

/**
 * The outcome for a node follows from the result of its Diagnosis, not from its phase: a graph on a
 * healthy node ends as Failed because the step that searches for the fault fails, and a person who
 * reads "120 of 120 nodes failed" would be misled.
 */
export function nodeOutcome({
  phase,
  result,
}: {
  readonly phase: string;
  readonly result: string | undefined;
}): NodeOutcome {
  const known = MOST_URGENT_FIRST.find((each) => each === result);
  if (hasEnded(phase)) {
    const meant = known ?? (phase === 'Succeeded' ? 'Completed' : 'Error');
    return { state: WITHOUT_ANSWER.includes(meant) ? 'failed' : 'succeeded', result: meant };
  }
  if (result === 'WaitingForApproval') return { state: 'running', result };
  return { state: phase === '' || phase === 'Pending' ? 'waiting' : 'running' };
}

/**
 * The result for several nodes. Before the end: WaitingForApproval if at least one waits for it and none
 * goes on without a person. At the end: the most urgent one.
 */
export function resultOfNodes(outcomes: readonly NodeOutcome[]): DiagnosisResult | undefined {
  const open = outcomes.filter(({ state }) => state === 'waiting' || state === 'running');
  if (open.length === 0) {
    return MOST_URGENT_FIRST.find((each) => outcomes.some(({ result }) => result === each));
  }
  const isWaiting = open.some(({ result }) => result === 'WaitingForApproval');
  const isRunning = open.some(({ state, result }) => state === 'running' && result === undefined);
  return isWaiting && !isRunning ? 'WaitingForApproval' : undefined;
}
