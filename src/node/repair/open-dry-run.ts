import { heldNodeLock } from '../../lib/state/node-lock.ts';
import { checkFolder, tried } from '../../lib/state/state-folder.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import { snapshotAfter } from '../evidence/check-after.ts';
import type { Action, Failure, Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import { FileJournal } from './file-journal.ts';
import { type Intent, readJournal } from './journal.ts';
import { LiveWriter } from './live-writer.ts';
import { type RepairOptions, unusableFolder } from './open-repair.ts';
import { notPermitted, objectionTo, withEarlierProof } from './perform.ts';

/** Every check that comes before an action, on a node that stays as it is. */
export type OpenDryRun =
  | {
      readonly isOpen: true;
      /**
       * What would become of an action; undefined when it would be performed. Actions that passed
       * before it count as performed.
       */
      readonly check: (intent: Intent) => Promise<Outcome | undefined>;
      /** The snapshot as it would be after the actions that passed. */
      readonly after: (snapshot: Snapshot) => Snapshot;
      /** Journal entries that a crash left open, and a real run would settle first. */
      readonly unfinished: readonly number[];
    }
  | ({ readonly isOpen: false } & Failure);

/** The counterpart of `openRepair`: takes no lock, and writes nothing. */
export async function openDryRun(options: RepairOptions): Promise<OpenDryRun> {
  const { stateFolder, snapshot, permitted } = options;
  const actor = thisProcess();
  const opened = await tried(
    (async () => {
      await checkFolder(stateFolder);
      const held = await heldNodeLock(stateFolder, actor);
      return { held, unfinished: readJournal(stateFolder).unfinished.map(({ entry }) => entry) };
    })(),
  );
  if (!opened.ok) return unusableFolder(stateFolder, opened);
  const { held, unfinished } = opened.value;
  if (held) return { isOpen: false, ...held };
  const writer = new LiveWriter(options);
  const journal = new FileJournal({ folder: stateFolder, actor });
  const passed: Action[] = [];
  const after = (now: Snapshot) => snapshotAfter(passed, now);
  const check = async (intent: Intent) => {
    const { action } = withEarlierProof(intent, journal);
    const objection =
      notPermitted(action, permitted) ??
      (await objectionTo(action, after(snapshot()), writer, { isDryRun: true }));
    if (!objection) passed.push(action);
    return objection;
  };
  return { isOpen: true, check, after, unfinished };
}
