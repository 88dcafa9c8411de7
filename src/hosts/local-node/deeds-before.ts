import { setTimeout as sleep } from 'node:timers/promises';
import { readJournal } from '../../node/repair/journal.ts';
import type { OpenHands } from '../../node/repair/open-hands.ts';
import type { DeedsBefore } from '../../pipeline/operations/processor-host.ts';
import { SETTLE_AGAIN_MS, SETTLE_TRIES_MAX } from './limits.ts';

/**
 * What was done for one purpose by an attempt that did not live to tell. What a crash left open is
 * settled first: that happens whenever the hands are opened.
 */
export async function deedsBefore(
  folder: string,
  purpose: string,
  openHands: () => Promise<OpenHands>,
): Promise<DeedsBefore> {
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
    const hands = await openHands();
    const left = hands.isOpen && hands.settled.find(({ record }) => record.entry === open.entry);
    why = hands.isOpen ? '' : `${hands.what}; ${hands.why}`;
    if (left && 'unsettled' in left) why = left.unsettled;
    if (hands.isOpen) hands.close();
  }
  return { isKnown: false, why };
}
