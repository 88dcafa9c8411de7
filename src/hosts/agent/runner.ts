import { join } from 'node:path';
import type { Semaphore } from '../../lib/std/semaphore.ts';
import { assignIn } from '../../pipeline/diagnosis/assign.ts';
import { largeResultsIn } from '../../pipeline/diagnosis/large-results.ts';
import type { OperationLookup } from '../../pipeline/diagnosis/operation-lookup.ts';
import { podLookup, stepsOn } from '../../pipeline/diagnosis/run-step.ts';
import { Runner } from '../../pipeline/diagnosis/runner.ts';
import { targetOfOnlyNode } from '../../pipeline/diagnosis/target.ts';
import type { Store } from '../../pipeline/store/store.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { type StepListener, stepHosts } from '../local-node/step-host.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import { EARLIER_ACTIONS_MS } from './limits.ts';

export interface RunnerOptions {
  readonly store: Store;
  readonly lookup: OperationLookup;
  readonly node: ManagedNode;
  readonly nodeName: () => string;
  readonly metrics: AgentMetrics;
  /** Shared by all that repairs this node. */
  readonly repairing: Semaphore;
  readonly shutdown: AbortSignal;
  readonly listener: StepListener & { readonly onError: (text: string) => void };
}

/** Drives the Diagnoses of this node's store on this node. */
export function runnerHere(options: RunnerOptions): Runner {
  const { store, lookup, node, nodeName, metrics, repairing, shutdown, listener } = options;
  const withHost = stepHosts(node, listener);
  const steps = stepsOn({ repairing, withHost });
  return new Runner({
    store,
    lookup,
    largeResults: largeResultsIn(join(node.stateFolder, 'results')),
    targetOf: (spec) => targetOfOnlyNode(spec, nodeName()),
    assign: assignIn(store),
    runStep: metrics.timed(steps),
    findPod: podLookup(withHost),
    earlierActionsFor: (purpose) =>
      withHost({ timeoutMs: EARLIER_ACTIONS_MS, stop: shutdown, purpose }, (host) =>
        host.earlierActions(),
      ),
    shutdown,
    onError: listener.onError,
    onEnded: (object) => metrics.ended(object),
  });
}
