import { join } from 'node:path';
import type { Catalogue } from '../../pipeline/diagnosis/catalogue.ts';
import { largeResultsIn } from '../../pipeline/diagnosis/large-results.ts';
import { podLookup } from '../../pipeline/diagnosis/look-for-pod.ts';
import { type StepNode, stepsOn } from '../../pipeline/diagnosis/run-step.ts';
import { Runner } from '../../pipeline/diagnosis/runner.ts';
import { targetHere } from '../../pipeline/diagnosis/target-here.ts';
import type { Turns } from '../../pipeline/diagnosis/turns.ts';
import type { Store } from '../../pipeline/store/store.ts';
import type { NodeInHand } from '../local-node/hands-on.ts';
import { type StepListener, withStepHost } from '../local-node/step-host.ts';
import { DEEDS_MS } from './limits.ts';
import type { Numbers } from './numbers.ts';

export interface Running {
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly node: NodeInHand;
  readonly nodeName: () => string;
  readonly numbers: Numbers;
  /** With whoever else repairs this node. */
  readonly repairing: Turns;
  readonly shutdown: AbortSignal;
  readonly listener: StepListener & { readonly onTrouble: (words: string) => void };
}

const nothing = async () => ({ given: 'none', why: 'nothing is to be done' }) as const;

/** Drives the Diagnoses of this node's store, and lends the node to each of their steps. */
export function runnerHere(running: Running): Runner {
  const { store, catalogue, node, nodeName, numbers, repairing, shutdown, listener } = running;
  const lend: StepNode['lend'] = ({ timeoutMs, ...wish }, use) =>
    withStepHost({ node, ...wish }, timeoutMs, use, listener);
  const steps = stepsOn({ repairing, lend });
  return new Runner({
    store,
    catalogue,
    largeResults: largeResultsIn(join(node.stateFolder, 'results')),
    targetOf: (spec) => targetHere(spec, nodeName()),
    runStep: numbers.timed(steps),
    lookForPod: podLookup({ lend }),
    deedsFor: (purpose) => {
      const wish = { node, consent: nothing, stop: shutdown, purpose };
      return withStepHost(wish, DEEDS_MS, ({ deedsBefore }) => deedsBefore(), listener);
    },
    shutdown,
    onTrouble: listener.onTrouble,
    onEnded: (object) => numbers.ended(object),
  });
}
