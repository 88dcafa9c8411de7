import type { ActionKind, Trouble } from '../model/action.ts';
import type { Look } from '../model/evidence.ts';
import { FileJournal } from './journal.ts';
import { LiveWriter } from './live-writer.ts';
import { takeNodeLock } from './node-lock.ts';
import type { Hands } from './perform.ts';
import { type Settled, settleUnfinished } from './settle-unfinished.ts';
import { tried } from './state-folder.ts';
import { thisProcess } from './this-process.ts';

export type OpenHands =
  | {
      readonly isOpen: true;
      readonly hands: Hands;
      /** What an earlier crash had left open. */
      readonly settled: readonly Settled[];
      readonly close: () => void;
    }
  | ({ readonly isOpen: false } & Trouble);

/** Takes this node's lock and settles what was left open; the hands are then ours until closed. */
export async function openHands(asked: {
  readonly stateFolder: string;
  readonly hostRoot?: string;
  readonly look: () => Look;
  readonly permitted: ReadonlySet<ActionKind>;
}): Promise<OpenHands> {
  const { stateFolder, look, permitted } = asked;
  const actor = thisProcess();
  const answer = await tried(takeNodeLock(stateFolder, actor));
  if (!answer.ok) return { isOpen: false, ...diskTrouble(stateFolder, answer.why) };
  if (!answer.value.isTaken) return { isOpen: false, ...answer.value };
  const { lock } = answer.value;
  const journal = new FileJournal(stateFolder, actor);
  const settled = await tried(settleUnfinished(stateFolder, { look, journal }));
  if (!settled.ok) {
    lock.release();
    return { isOpen: false, ...diskTrouble(stateFolder, settled.why) };
  }
  const hands = { look, writer: new LiveWriter(asked), journal, lock, permitted };
  return { isOpen: true, hands, settled: settled.value, close: lock.release };
}

function diskTrouble(folder: string, why: string): Trouble {
  const todo = 'nothing was changed; make it writable, make room, or choose another --state-dir';
  return { what: `our folder ${folder} cannot be used`, why, todo };
}
