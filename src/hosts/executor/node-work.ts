import { join } from 'node:path';
import { readOutput } from '../../lib/state/output-folder.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { ExecutorHandlers } from '../../pipeline/channel/connect-to-agent.ts';
import type { Hello } from '../../pipeline/channel/messages.ts';
import { withLargeResults } from '../../pipeline/diagnosis/with-large-results.ts';
import { builtIns, repairs } from '../../pipeline/operations/catalogue.ts';
import { READING_STEPS_MAX } from '../../pipeline/operations/limits.ts';
import { usesResult } from '../../pipeline/operations/run-operation.ts';
import {
  earlierRecords,
  journalSettling,
  podLookup,
  stepsOn,
} from '../../pipeline/operations/run-step.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { type StepListener, stepHosts } from '../local-node/step-host.ts';
import { filesOfDiagnoses } from './files-of-diagnoses.ts';
import { guardedSteps } from './guarded-steps.ts';
import { limitedResults } from './limited-results.ts';
import { CHUNK_BYTES_MAX, LARGE_STEPS_MAX } from './limits.ts';
import type { Policy } from './policy.ts';

export interface NodeWorkOptions {
  readonly node: ManagedNode;
  readonly nodeName: string | undefined;
  readonly policy: () => Promise<Policy>;
  readonly stop: AbortSignal;
  readonly listener: StepListener;
}

/** Everything that an executor does on its node. */
export function nodeWork(options: NodeWorkOptions): ExecutorHandlers {
  const { node, policy, nodeName, stop, listener } = options;
  const repairLimits = async () => {
    const { actions: permitted, actionsPerHour } = await policy();
    return { permitted, actionsPerHour };
  };
  // Apart from the results of a `kubediag serve` on the same node: each removes those it does not know.
  const folder = join(node.stateFolder, 'cluster');
  const largeResults = limitedResults(join(folder, 'results'));
  const withHost = filesOfDiagnoses(stepHosts({ ...node, repairLimits }, listener), largeResults);
  const [repairing, reading] = [new Semaphore(1), new Semaphore(READING_STEPS_MAX)];
  const runRecords = largeResults;
  const steps = stepsOn({ withHost, repairing, reading, runRecords, limitsToPods: true });
  const atOnce = new Semaphore(LARGE_STEPS_MAX);
  return {
    // The policy judges the whole input, with what an agent has put into files.
    runStep: withLargeResults(guardedSteps(steps, { policy, nodeName }), largeResults, {
      atOnce,
      uses: usesResult,
    }),
    findPod: podLookup(withHost, reading),
    earlierActionsFor: earlierRecords(withHost, stop, repairing),
    settleJournal: journalSettling(withHost, stop, repairing),
    largeResults,
    readFile: (path, offset) => readOutput(folder, path, { offset, bytesMax: CHUNK_BYTES_MAX }),
  };
}

/** Our Operations and OperationSets, and which of them repair, as an agent gets them. */
export function ownBuiltIns(): Pick<Hello, 'builtIns' | 'repairs'> {
  const { operations, operationSets } = builtIns;
  return {
    builtIns: { operations: [...operations], operationSets: [...operationSets] },
    repairs: [...repairs],
  };
}
