import { heldNodeLock } from '../../lib/state/node-lock.ts';
import { checkFolder, tried } from '../../lib/state/state-folder.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import { lookAfter } from '../evidence/look-after.ts';
import type { Action, Outcome, Trouble } from '../model/action.ts';
import type { Look } from '../model/evidence.ts';
import { FileJournal } from './file-journal.ts';
import { type Intent, readJournal } from './journal.ts';
import { LiveWriter } from './live-writer.ts';
import { type HandsOptions, unusableFolder } from './open-hands.ts';
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
      /** A look as it would be after the actions that passed. */
      readonly after: (look: Look) => Look;
      /** Journal entries that a crash left open, and a real run would settle first. */
      readonly unfinished: readonly number[];
    }
  | ({ readonly isOpen: false } & Trouble);

/** The counterpart of `openHands`: takes no lock, and writes nothing. */
export async function openDryRun(options: HandsOptions): Promise<OpenDryRun> {
  const { stateFolder, look, permitted } = options;
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
  const after = (now: Look) => lookAfter(passed, now);
  const check = async (intent: Intent) => {
    const { action } = withEarlierProof(intent, journal);
    const objection =
      notPermitted(action, permitted) ??
      (await objectionTo(action, after(look()), writer, { isDryRun: true }));
    if (!objection) passed.push(action);
    return objection;
  };
  return { isOpen: true, check, after, unfinished };
}
