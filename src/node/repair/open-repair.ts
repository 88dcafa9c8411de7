import { takeNodeLock } from '../../lib/state/node-lock.ts';
import { tried } from '../../lib/state/state-folder.ts';
import { thisProcess } from '../../lib/state/this-process.ts';
import type { DiskAdvice } from '../../lib/std/disk-advice.ts';
import type { ActionKind, Failure } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import type { OwnCommand } from '../reader/reader-process.ts';
import { endStrays } from './end-strays.ts';
import { FileJournal } from './file-journal.ts';
import { handlers } from './handlers.ts';
import type { Intent } from './journal.ts';
import { settleMs } from './limits.ts';
import { LiveWriter } from './live-writer.ts';
import { type Performed, perform, type RepairContext } from './perform.ts';
import { type Settled, settleUnfinished } from './settle-unfinished.ts';

/** A host only gets the entry point: neither the writer nor the journal leaves this module. */
export type OpenRepair =
  | {
      readonly isOpen: true;
      readonly perform: (intent: Intent, options?: PerformOptions) => Promise<Performed>;
      /** What an earlier crash had left open. */
      readonly settled: readonly Settled[];
      readonly close: () => void;
    }
  | ({ readonly isOpen: false } & Failure);

/** Every kind of action; what a host permits is its own policy. */
export const ALL_ACTIONS: ReadonlySet<ActionKind> = new Set(Object.keys(handlers) as ActionKind[]);

/** How a host follows an action, and stops before it begins. */
export type PerformOptions = Pick<RepairContext, 'onStep' | 'onProgress' | 'stop'>;

export interface RepairOptions {
  readonly stateFolder: string;
  readonly hostRoot?: string;
  /** How the remover is started: this very program, with the subcommand `remover`. */
  readonly remover?: OwnCommand;
  readonly snapshot: () => Snapshot;
  readonly permitted: ReadonlySet<ActionKind>;
  /** Absent: no limit. */
  readonly actionsPerHour?: number | undefined;
}

export function unusableFolder(
  folder: string,
  { why, todo }: DiskAdvice,
): { readonly isOpen: false } & Failure {
  const what = `our directory ${folder} cannot be used`;
  return { isOpen: false, what, why, todo: `nothing was changed; ${todo}` };
}

/** Takes this node's lock and settles unfinished actions; the repair is then ours until closed. */
export async function openRepair(asked: RepairOptions): Promise<OpenRepair> {
  const { stateFolder, snapshot, permitted, actionsPerHour } = asked;
  const actor = thisProcess();
  const answer = await tried(takeNodeLock(stateFolder, actor), undefined, (late) => {
    if (late.isTaken) late.lock.release();
  });
  if (!answer.ok) return unusableFolder(stateFolder, answer);
  if (!answer.value.isTaken) return { isOpen: false, ...answer.value };
  const { lock } = answer.value;
  const journal = new FileJournal({ folder: stateFolder, actor });
  const writer = new LiveWriter(asked);
  const acting = { snapshot, journal, writer, permitted, actionsPerHour };
  const settle = async () => {
    await endStrays(snapshot());
    return settleUnfinished(stateFolder, acting);
  };
  const settling = settle();
  // After a failure at once; after the timeout when it has ended, because it may be resuming an action.
  void settling.then(undefined, () => lock.release());
  const settled = await tried(settling, settleMs, () => lock.release());
  if (!settled.ok) return unusableFolder(stateFolder, settled);
  const repair = { ...acting, lock };
  let isClosed = false;
  return {
    isOpen: true,
    perform: async (intent, options = {}) => {
      if (!isClosed) return perform(intent, { ...repair, ...options });
      const failure = { what: 'the repair is closed', why: 'the node is no longer locked for us' };
      return { outcome: { state: 'refused', ...failure, todo: 'open them again' } };
    },
    settled: settled.value,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      lock.release();
    },
  };
}
