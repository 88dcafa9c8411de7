import type { Action, ActionKind, Outcome } from '../model/action.ts';
import { attempt } from '../node/attempt.ts';
import type { Handler, Sight } from './handler.ts';
import { handlers } from './handlers.ts';
import { type JournalRecord, readJournal } from './journal.ts';
import type { Hands } from './perform.ts';

/** What became of a deed whose end nobody saw. */
export type Settled = { readonly record: JournalRecord } & (
  | { readonly outcome: Outcome }
  | { readonly unsettled: string }
);

/**
 * Deeds that were begun and not concluded: we were killed, or the node went down. Nothing is done
 * again; the node is looked at, and what is seen is written down. Called under the node's lock.
 */
export async function settleUnfinished(
  folder: string,
  { look, journal }: Pick<Hands, 'look' | 'journal'>,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  for (const record of readJournal(folder).unfinished) {
    const { action, entry } = record;
    if (!Object.hasOwn(handlers, action.kind)) {
      settled.push({ record, unsettled: `this version does not know the action ${action.kind}` });
      continue;
    }
    const sight = await attempt(sightOf(action, look));
    if (sight.known) {
      if (sight.value.underWay) {
        settled.push({ record, unsettled: sight.value.underWay });
        continue;
      }
      const outcome = outcomeOf(record, sight.value);
      await journal.conclude(entry, record, outcome);
      settled.push({ record, outcome });
    } else {
      settled.push({ record, unsettled: `the node could not be looked at: ${sight.why}` });
    }
  }
  return settled;
}

function sightOf(action: Action, look: Hands['look']): Promise<Sight> {
  const handler: Handler<ActionKind> = handlers[action.kind];
  return handler.isDone(action, look());
}

function outcomeOf({ at, by }: JournalRecord, { isDone, seen }: Sight): Outcome {
  const note = `begun at ${at} by pid ${by.pid}, its end was not seen; looked now: ${seen}`;
  const todo = 'run kubediag check, and recover again';
  return isDone ? { state: 'done', note } : { state: 'no-effect', what: seen, why: note, todo };
}
