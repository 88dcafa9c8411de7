import { faults } from '../../node/faults/index.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import type { GraphNode } from '../api/operation-set.ts';
import { diagnoseFault } from './diagnose-fault.ts';
import { stepsOf } from './fault-steps.ts';
import type { OwnProcessor } from './own-processor.ts';
import { recoverFault } from './recover-fault.ts';

/** Two processors for each fault: one that finds it and, where we have a cure, one that repairs it. */
export const faultProcessors: readonly OwnProcessor[] = faults.flatMap(processorsOf);

function processorsOf(fault: AnyFault): readonly OwnProcessor[] {
  const steps = stepsOf(fault);
  const diagnoser: OwnProcessor = {
    path: steps.diagnoserPath,
    operation: steps.diagnoser,
    does: `finds ${fault.id} where it hurts now (${lowered(fault.title)})`,
    details:
      'It succeeds when something is damaged or active. What is latent or benign, what is clear, and ' +
      'what is not known fail the step, with the reason; `status.findings` tells what is latent all the ' +
      'same. A Diagnosis with a podReference asks about that pod alone. The findings are JSON.',
    reads: [],
    writes: [steps.found, steps.findings, steps.bugLink],
    repairs: false,
    run: (input, host) => diagnoseFault(fault, input, host),
  };
  if (!fault.recover) return [diagnoser];
  const recover: OwnProcessor = {
    path: steps.recoverPath,
    operation: steps.recover,
    does: 'repairs what that found, when a new look finds the same',
    details:
      'Of the findings only their ids count. What is neither damaged nor active, what a new look does ' +
      'not find again, and what only a person can confirm is refused; one that is refused does not ' +
      'keep the others from being repaired, but fails the step.',
    reads: [steps.findings],
    writes: [steps.recovered],
    repairs: true,
    run: (input, host) => recoverFault(fault, input, host),
  };
  return [diagnoser, recover];
}

function lowered(title: string): string {
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

/** A graph that is there without a manifest of it. */
export interface OwnOperationSet {
  readonly name: string;
  readonly adjacencyList: readonly GraphNode[];
}

/** For each fault: find it, then repair it. */
export const ownOperationSets: readonly OwnOperationSet[] = faults.map((fault) => {
  const { set, diagnoser, recover } = stepsOf(fault);
  const steps = fault.recover ? [diagnoser, recover] : [diagnoser];
  return { name: set, adjacencyList: inLine(steps) };
});

/** One step after another, behind the start, which runs nothing. */
function inLine(operations: readonly string[]): readonly GraphNode[] {
  const nodes: readonly GraphNode[] = [{}, ...operations.map((operation) => ({ operation }))];
  return nodes.map((node, id) => ({
    id,
    ...(id < operations.length ? { to: [id + 1] } : {}),
    ...node,
  }));
}
