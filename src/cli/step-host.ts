import { lookAt } from '../checkup/look.ts';
import type { ProcessorHost } from '../operations/processor-host.ts';
import { openNode } from './open-node.ts';
import { lookSettingsOf, type NodeOptions } from './options.ts';
import { handsOn } from './recover.ts';
import { bundleNameOf, saveBundle } from './save-bundle.ts';
import { showSettled } from './show-recovery.ts';
import { takeLook } from './take-look.ts';
import { tellAbandoned } from './tell-abandoned.ts';
import type { Terminal } from './terminal.ts';

export interface HostWish {
  readonly options: NodeOptions & { readonly stateFolder: string };
  readonly consent: ProcessorHost['consent'];
  readonly stop: AbortSignal;
}

/** Lends this node to one step, for its time; what has begun to change the node is not cut short. */
export async function withStepHost<T>(
  { options, consent, stop }: HostWish,
  timeoutMs: number,
  use: (host: ProcessorHost) => Promise<T>,
  terminal: Terminal,
): Promise<T> {
  const settings = lookSettingsOf(options);
  const node = openNode(options);
  const acting = openNode(options);
  const limit = `the time limit of the step, ${timeoutMs / 1_000} s, was reached`;
  const timer = setTimeout(() => node.endLook(limit), timeoutMs);
  try {
    return await use({
      look: () => lookAt(node, settings),
      judge: async (fault, only) => {
        const looked = await takeLook(
          node,
          { faults: [fault], settings, only, timeoutMs },
          terminal,
        );
        const [judged] = looked.judged;
        if (!judged) throw new Error(`nobody judged ${fault.id}`);
        const keepEvidence = (id: string) =>
          saveBundle(looked.bundle(), options.stateFolder, bundleNameOf(looked.report, id));
        return { verdict: judged.verdict, keepEvidence };
      },
      consent,
      openHands: async () => {
        const hands = await handsOn(acting, options);
        if (hands.isOpen) showSettled(hands.settled, terminal);
        return hands;
      },
      stop,
    });
  } finally {
    clearTimeout(timer);
    for (const each of [node, acting]) {
      each.close();
      await tellAbandoned(each, terminal);
    }
  }
}
