import { takeNodeLock } from '../../lib/state/node-lock.ts';
import { tried } from '../../lib/state/state-folder.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import type { DiskAdvice } from '../../lib/std/disk-advice.ts';
import type { ActionKind, Trouble } from '../model/action.ts';
import type { Look } from '../model/evidence.ts';
import { endStrays } from './end-strays.ts';
import { FileJournal } from './file-journal.ts';
import { handlers } from './handlers.ts';
import type { Intent } from './journal.ts';
import { settleMs } from './limits.ts';
import { LiveWriter, type RemoverCommand } from './live-writer.ts';
import { type Hands, type Performed, perform } from './perform.ts';
import { type Settled, settleUnfinished } from './settle-unfinished.ts';

/** A host is given the one door and no more: neither the writer nor the journal leaves this room. */
export type OpenHands =
  | {
      readonly isOpen: true;
      readonly perform: (intent: Intent, wish?: Wish) => Promise<Performed>;
      /** What an earlier crash had left open. */
      readonly settled: readonly Settled[];
      readonly close: () => void;
    }
  | ({ readonly isOpen: false } & Trouble);

/** Everything that these hands can do; what a host permits is its own policy. */
export const ALL_ACTIONS: ReadonlySet<ActionKind> = new Set(Object.keys(handlers) as ActionKind[]);

export type Wish = Pick<Hands, 'onStep' | 'onProgress' | 'stop'>;

export interface HandsOptions {
  readonly stateFolder: string;
  readonly hostRoot?: string;
  /** How the remover is started: this very program, with the subcommand `remover`. */
  readonly remover?: RemoverCommand;
  readonly look: () => Look;
  readonly permitted: ReadonlySet<ActionKind>;
}

export function unusableFolder(
  folder: string,
  { why, todo }: DiskAdvice,
): { readonly isOpen: false } & Trouble {
  const what = `our folder ${folder} cannot be used`;
  return { isOpen: false, what, why, todo: `nothing was changed; ${todo}` };
}

/** Takes this node's lock and settles what was left open; the hands are then ours until closed. */
export async function openHands(asked: HandsOptions): Promise<OpenHands> {
  const { stateFolder, look, permitted } = asked;
  const actor = thisProcess();
  const answer = await tried(takeNodeLock(stateFolder, actor));
  if (!answer.ok) return unusableFolder(stateFolder, answer);
  if (!answer.value.isTaken) return { isOpen: false, ...answer.value };
  const { lock } = answer.value;
  await endStrays(look());
  const journal = new FileJournal({ folder: stateFolder, actor });
  const writer = new LiveWriter(asked);
  const acting = { look, journal, writer, permitted };
  const settled = await tried(settleUnfinished(stateFolder, acting), settleMs);
  if (!settled.ok) {
    lock.release();
    return unusableFolder(stateFolder, settled);
  }
  const hands = { ...acting, lock };
  let isClosed = false;
  return {
    isOpen: true,
    perform: async (intent, wish = {}) => {
      if (!isClosed) return perform(intent, { ...hands, ...wish });
      const trouble = { what: 'the hands are closed', why: 'the node is no longer locked for us' };
      return { outcome: { state: 'refused', ...trouble, todo: 'open them again' } };
    },
    settled: settled.value,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      lock.release();
    },
  };
}
