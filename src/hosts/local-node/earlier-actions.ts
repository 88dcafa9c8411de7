import { setTimeout as sleep } from 'node:timers/promises';
import { readJournal } from '../../node/repair/journal.ts';
import type { OpenRepair } from '../../node/repair/open-repair.ts';
import type { EarlierActions } from '../../pipeline/operations/processor-host.ts';
import { SETTLE_AGAIN_MS, SETTLE_TRIES_MAX } from './limits.ts';

/**
 * The actions of interrupted attempts for one purpose. Opening the repair first settles actions
 * that a crash interrupted.
 */
export async function earlierActions(
  folder: string,
  purpose: string,
  openRepair: () => Promise<OpenRepair>,
): Promise<EarlierActions> {
  let why = '';
  for (let tries = 0; tries < SETTLE_TRIES_MAX; tries += 1) {
    if (why !== '') await sleep(SETTLE_AGAIN_MS);
    const { records, unfinished } = readJournal(folder);
    const open = unfinished.find((record) => record.purpose === purpose);
    if (!open) {
      const done = records.filter(
        (record) => record.purpose === purpose && record.outcome?.state === 'done',
      );
      return { isKnown: true, done };
    }
    const repair = await openRepair();
    const left = repair.isOpen && repair.settled.find(({ record }) => record.entry === open.entry);
    why = repair.isOpen ? '' : `${repair.what}; ${repair.why}`;
    if (left && 'unsettled' in left) why = left.unsettled;
    if (repair.isOpen) repair.close();
  }
  return { isKnown: false, why };
}
