import { numberAt } from '../../lib/std/json.ts';
import type { Action, ActionKind, Outcome } from '../model/action.ts';
import { attempt } from '../model/evidence.ts';
import type { Handler, Observation } from './handler.ts';
import { handlers } from './handlers.ts';
import { type JournalRecord, readJournal } from './journal.ts';
import { resumeMs } from './limits.ts';
import type { RepairContext } from './perform.ts';

/** The outcome of an action interrupted by a crash. */
export type Settled = { readonly record: JournalRecord } & (
  | { readonly outcome: Outcome }
  | { readonly unsettled: string }
);

/**
 * Actions that were started and not concluded: we were killed, or the node went down. The node is checked
 * at, an act that broke off in its middle is finished, nothing is done again, and what is seen is
 * written down. Called under the node's lock.
 */
export async function settleUnfinished(
  folder: string,
  repair: Pick<RepairContext, 'snapshot' | 'journal' | 'writer' | 'permitted'>,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  const until = performance.now() + resumeMs;
  for (const record of readJournal(folder).unfinished) {
    const { action, entry } = record;
    if (!Object.hasOwn(handlers, action.kind)) {
      settled.push({ record, unsettled: `this version does not know the action ${action.kind}` });
      continue;
    }
    const sight = await attempt(sightOf(action, repair, until));
    repair.writer.release();
    if (sight.known) {
      if (sight.value.underWay) {
        settled.push({ record, unsettled: sight.value.underWay });
        continue;
      }
      const outcome = outcomeOf(record, sight.value);
      await repair.journal.conclude(entry, record, outcome);
      settled.push({ record, outcome });
    } else {
      settled.push({ record, unsettled: `the node could not be checked: ${sight.why}` });
    }
  }
  return settled;
}

async function sightOf(
  action: Action,
  { snapshot, writer, permitted }: Pick<RepairContext, 'snapshot' | 'writer' | 'permitted'>,
  until: number,
): Promise<Observation> {
  const handler: Handler<ActionKind> = handlers[action.kind];
  const sight = await handler.isDone(action, snapshot());
  const mayResume = permitted.has(action.kind) && performance.now() < until;
  if (sight.underWay || !handler.resume || !mayResume) return sight;
  const resumed = await handler.resume(action, writer, snapshot);
  if (resumed === undefined) return sight;
  const now = await handler.isDone(action, snapshot());
  const seen = `${now.seen}; ${resumed.said}`;
  return { ...now, seen, ...(resumed.isOpen && !now.isDone ? { underWay: seen } : {}) };
}

function outcomeOf({ at, by }: JournalRecord, { isDone, seen, beside }: Observation): Outcome {
  const all = beside === undefined ? seen : `${seen}; ${beside}`;
  const pid = numberAt(by, 'pid');
  const who = pid === undefined ? 'a process that the journal does not name' : `pid ${pid}`;
  const note = `begun at ${at} by ${who}, its end was not seen; checked now: ${all}`;
  const todo = 'run kubediag check, and recover again';
  return isDone ? { state: 'done', note } : { state: 'no-effect', what: seen, why: note, todo };
}
