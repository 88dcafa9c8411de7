import { type MountTable, mountTable } from '../evidence/mount-table.ts';
import { type UnloggedContainers, unloggedContainers } from '../evidence/unlogged-containers.ts';
import type { Action, Outcome, Trouble } from '../model/action.ts';
import type { Evidence, Look } from '../model/evidence.ts';
import { heldNodeLock } from '../state/node-lock.ts';
import { checkFolder, tried } from '../state/state-folder.ts';
import { thisProcess } from '../state/this-process.ts';
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
  if (!opened.ok) return unusableFolder(stateFolder, opened.why);
  const { held, unfinished } = opened.value;
  if (held) return { isOpen: false, ...held };
  const writer = new LiveWriter(options);
  const journal = new FileJournal({ folder: stateFolder, actor });
  const passed: Action[] = [];
  const check = async (intent: Intent) => {
    const { action } = withEarlierProof(intent, journal);
    const objection =
      notPermitted(action, permitted) ??
      (await objectionTo(action, lookAfter(passed, look()), writer));
    if (!objection) passed.push(action);
    return objection;
  };
  return { isOpen: true, check, unfinished };
}

/** A look without what these actions would have taken away, for those that build on them. */
function lookAfter(actions: readonly Action[], look: Look): Look {
  const gone = new Set(actions.map(subjectOf));
  const changes = new Map<string, unknown>([
    [
      mountTable.id,
      (table: MountTable) => ({
        ...table,
        mounts: table.mounts.filter(({ id }) => !gone.has(id)),
      }),
    ],
    [
      unloggedContainers.id,
      (unlogged: UnloggedContainers) => ({
        ...unlogged,
        containers: unlogged.containers.filter(({ id }) => !gone.has(id)),
      }),
    ],
  ]);
  const of = async <T>(evidence: Evidence<T>): Promise<T> => {
    const value = await look.of(evidence);
    const change = changes.get(evidence.id) as ((value: T) => T) | undefined;
    return change ? change(value) : value;
  };
  return { ...look, of };
}

/** What an action takes away, where another action may wait for that. */
function subjectOf(action: Action): number | string | undefined {
  if (action.kind === 'unmount' || action.kind === 'force-unmount') return action.id;
  return action.kind === 'remove-container' ? action.container : undefined;
}
