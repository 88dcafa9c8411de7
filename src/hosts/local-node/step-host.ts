import { storeFile } from '../../lib/state/stored-files.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import type { CheckListener } from '../../node/checkup/run-check.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';
import { hasSeenGone } from '../../node/repair/journal.ts';
import type { Settled } from '../../node/repair/settle-unfinished.ts';
import type { WithHost } from '../../pipeline/operations/processor-host.ts';
import { earlierActions } from './earlier-actions.ts';
import { openLiveNode } from './open-live-node.ts';
import { type ManagedNode, openRepairOn, settingsNow } from './open-repair.ts';
import { bundleNameOf, bundleOf, saveBundle } from './save-bundle.ts';

export interface StepListener extends CheckListener {
  /** Called with the actions that an earlier crash interrupted, and how they were settled. */
  readonly onSettled: (settled: readonly Settled[]) => void;
  /** Called after the node is closed: readers that hang may be left. */
  readonly onLetGo: (node: LiveNode) => Promise<void>;
}

/** Opens this node for each step, until its deadline; an action that has started is finished. */
export function stepHosts(managed: ManagedNode, listener: StepListener): WithHost {
  const { access, stateFolder } = managed;
  return async ({ timeoutMs, consent, stop, purpose }, use) => {
    const node = openLiveNode(access);
    const acting = openLiveNode(access);
    const limit = `the time limit of the step, ${timeoutMs / 1_000} s, was reached`;
    const timer = setTimeout(() => node.endCheck(limit), timeoutMs);
    const openRepair = async () => {
      const repair = await openRepairOn(acting, managed);
      if (repair.isOpen) listener.onSettled(repair.settled);
      return repair;
    };
    try {
      return await use({
        node,
        settings: settingsNow(managed),
        listener,
        saveEvidence: (checked, id) =>
          saveBundle(bundleOf(checked), stateFolder, bundleNameOf(checked.report, id)),
        consent,
        openRepair,
        earlierActions: async () => {
          if (purpose === undefined) return { isKnown: true, done: [] };
          return earlierActions(stateFolder, purpose, openRepair);
        },
        hasSeenGone: (podUid, finding) =>
          hasSeenGone(stateFolder, { podUid, finding, boot: thisProcess().boot }),
        purpose,
        timeoutMs,
        stop,
        storeFile: (file) => storeFile(stateFolder, file),
        stateFolder,
        hostRoot: access.hostRoot,
      });
    } finally {
      clearTimeout(timer);
      for (const each of [node, acting]) {
        // The next step of the Diagnosis follows at once, and starting a reader takes longer than most reads.
        each.pause();
        await listener.onLetGo(each);
      }
    }
  };
}
