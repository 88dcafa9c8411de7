import { join } from 'node:path';
import type { Catalogue } from '../../pipeline/diagnosis/catalogue.ts';
import { podLookup } from '../../pipeline/diagnosis/find-pod.ts';
import { largeResultsIn } from '../../pipeline/diagnosis/large-results.ts';
import { type StepNode, stepsOn } from '../../pipeline/diagnosis/run-step.ts';
import { Runner } from '../../pipeline/diagnosis/runner.ts';
import type { Semaphore } from '../../pipeline/diagnosis/semaphore.ts';
import { targetHere } from '../../pipeline/diagnosis/target-here.ts';
import type { Store } from '../../pipeline/store/store.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { type StepListener, withStepHost } from '../local-node/step-host.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import { EARLIER_ACTIONS_MS } from './limits.ts';

export interface Running {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly node: ManagedNode;
  readonly nodeName: () => string;
  readonly numbers: AgentMetrics;
  /** With whoever else repairs this node. */
  readonly repairing: Semaphore;
  readonly shutdown: AbortSignal;
  readonly listener: StepListener & { readonly onError: (text: string) => void };
}

const nothing = async () => ({ given: 'none', why: 'nothing is to be done' }) as const;

/** Drives the Diagnoses of this node's store, and lends the node to each of their steps. */
export function runnerHere(running: Running): Runner {
  const { store, catalogue, node, nodeName, numbers, repairing, shutdown, listener } = running;
  const withHost: StepNode['withHost'] = ({ timeoutMs, ...options }, use) =>
    withStepHost({ node, ...options }, timeoutMs, use, listener);
  const steps = stepsOn({ repairing, withHost });
  return new Runner({
    store,
    catalogue,
    largeResults: largeResultsIn(join(node.stateFolder, 'results')),
    targetOf: (spec) => targetHere(spec, nodeName()),
    runStep: numbers.timed(steps),
    findPod: podLookup({ withHost }),
    earlierActionsFor: (purpose) => {
      const options = { node, consent: nothing, stop: shutdown, purpose };
      return withStepHost(
        options,
        EARLIER_ACTIONS_MS,
        ({ earlierActions }) => earlierActions(),
        listener,
      );
    },
    shutdown,
    onError: listener.onError,
    onEnded: (object) => numbers.ended(object),
  });
}
