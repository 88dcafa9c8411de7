import { lookAt } from '../../node/checkup/look.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';
import type { Settled } from '../../node/repair/settle-unfinished.ts';
import type { ProcessorHost } from '../../pipeline/operations/processor-host.ts';
import { deedsBefore } from './deeds-before.ts';
import { handsOn, type NodeInHand } from './hands-on.ts';
import { openLiveNode } from './open-live-node.ts';
import { bundleNameOf, saveBundle } from './save-bundle.ts';
import { type LookListener, takeLook } from './take-look.ts';

export interface HostWish {
  readonly node: NodeInHand;
  readonly consent: ProcessorHost['consent'];
  readonly stop: AbortSignal;
  /** The step of a Diagnosis that it is for, the same in every attempt. */
  readonly purpose?: string | undefined;
}

export interface StepListener extends LookListener {
  /** What an earlier crash had left open, and how it was settled. */
  readonly onSettled: (settled: readonly Settled[]) => void;
  /** The node was let go: readers that hang may have been left behind. */
  readonly onLetGo: (node: LiveNode) => Promise<void>;
}

/** Lends this node to one step, for its time; what has begun to change the node is not cut short. */
export async function withStepHost<T>(
  { node: inHand, consent, stop, purpose }: HostWish,
  timeoutMs: number,
  use: (host: ProcessorHost) => Promise<T>,
  listener: StepListener,
): Promise<T> {
  const { access, settings, stateFolder } = inHand;
  const node = openLiveNode(access);
  const acting = openLiveNode(access);
  const limit = `the time limit of the step, ${timeoutMs / 1_000} s, was reached`;
  const timer = setTimeout(() => node.endLook(limit), timeoutMs);
  const openHands = async () => {
    const hands = await handsOn(acting, inHand);
    if (hands.isOpen) listener.onSettled(hands.settled);
    return hands;
  };
  try {
    return await use({
      look: () => lookAt(node, settings),
      judge: async (fault, only) => {
        const asked = { faults: [fault], settings, only, timeoutMs };
        const looked = await takeLook(node, asked, listener);
        const [judged] = looked.judged;
        if (!judged) throw new Error(`nobody judged ${fault.id}`);
        const keepEvidence = (id: string) =>
          saveBundle(looked.bundle(), stateFolder, bundleNameOf(looked.report, id));
        return { verdict: judged.verdict, keepEvidence };
      },
      consent,
      openHands,
      deedsBefore: async () => {
        if (purpose === undefined) return { isKnown: true, done: [] };
        return deedsBefore(stateFolder, purpose, openHands);
      },
      purpose,
      timeoutMs,
      stop,
      stateFolder,
      hostRoot: access.hostRoot,
    });
  } finally {
    clearTimeout(timer);
    for (const each of [node, acting]) {
      each.close();
      await listener.onLetGo(each);
    }
  }
}
